// The protocol of a migration (docs/shadowfax.md §3) as a machine of one key, searched
// exhaustively: source and target may be killed at every step, checkpoints may be made at any time,
// the client learns of views late. Messages are steps of who sends them; the metadata service loses
// nothing, so that its death only delays. A protocol with one thing left out must be found wrong.

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace turntable::shadowfax {
namespace {

constexpr int kAdditions = 4, kKills = 3, kMigrations = 2;  // there, and back again

enum class Broken : std::uint8_t {
  kNothing,
  kOwnsBeforeTheCutIsKept,
  kServesWhatIsMissing,          // the target makes a key that it lacks begin at 0
  kTakesTwice,                   // it takes a record although it has a newer one
  kTakesNothingOverOldOnes,      // what it had of an earlier time counts
  kServesUntilOwned,             // the source goes on after its cut
  kStagesBeforeTheCut,           // what is staged may still change
  kTakesWhatIsStagedForAnother,  // migration
  // Of indirection records:
  kTruncatesWhileOthersPointIntoIt,
  kTellsBeforeACheckpoint,  // that what it pointed to is its own
  kMovesOnUnresolved,
  kPullsOverNewerOnes,
  kForgetsWhatItPointsTo,  // after a crash, or its checkpoint has it not
};

enum class Step : std::uint8_t { kNone, kPrepared, kCut, kKept, kOwned, kSent };

struct Store {
  bool has = false;  // a record of the key that counts
  int value = 0;
  int serial = 0;        // additions of the client's session
  bool has_old = false;  // a record of an earlier time
  int old = 0;
  bool points = false;  // an indirection record: the other one's log has it

  // What the log has, whatever it counts for here; -1: it begins behind it.
  int in_log() const {
    if (has) return value;
    return has_old ? old : -1;
  }
  auto tie() const { return std::tuple(has, value, serial, has_old, old, points); }
  bool operator<(const Store& other) const { return tie() < other.tie(); }
};

struct Server {
  Store now, kept;
  int view = 0;
  bool awaits = false;
  // What it was sent before it owns the key, in memory alone; 0: nothing.
  int staged_for = 0, staged = 0;
  // Its indirection records count; all has been pulled; and a checkpoint has been made since.
  bool counts = false, has_pulled = false, is_covered = false;

  bool asks() const { return !now.has && !awaits && counts && now.points; }
  auto tie() const {
    return std::tuple(now, kept, view, awaits, staged_for, staged, counts, has_pulled, is_covered);
  }
  bool operator<(const Server& other) const { return tie() < other.tie(); }
};

struct World {
  Server servers[2];
  // Metadata.
  int view = 0;
  int owner = 0;
  bool is_under_way = false, is_owned = false;
  bool is_unresolved = false;
  int points_from = 0;  // who has indirection records then
  int migrations = 0;
  // The source's thread, which dies with it.
  Step step = Step::kNone;
  int target_life = 0;  // the target's when sending began
  int life[2] = {0, 0};
  // The client.
  int client_view = 0, client_owner = 0;
  int issued = 0;
  int unserved = 0;        // issued, and to be done (again) by whoever owns the key
  int served[2] = {0, 0};  // by the session's count
  int kills = 0;

  int source() const { return is_owned ? 1 - owner : owner; }
  int target() const { return 1 - source(); }

  auto tie() const {
    return std::tuple(servers[0], servers[1], view, owner, is_under_way, is_owned, is_unresolved,
                      points_from, migrations, step, target_life, life[0], life[1], client_view,
                      client_owner, issued, unserved, served[0], served[1], kills);
  }
  bool operator<(const World& other) const { return tie() < other.tie(); }
};

class Search {
 public:
  explicit Search(Broken broken) : broken_(broken) {}

  // What went wrong first; empty: nothing does.
  std::string run() {
    World first;
    first.servers[0].now.has = first.servers[0].kept.has = true;
    reach(first);
    while (!waiting_.empty() && wrong_.empty()) {
      const World world = waiting_.front();
      waiting_.pop_front();
      go_on(world);
    }
    return wrong_;
  }
  std::size_t states() const { return seen_.size(); }
  bool completed() const { return completed_; }

 private:
  void reach(const World& world) {
    if (!seen_.emplace(world, true).second) return;
    waiting_.push_back(world);
    check(world);
  }

  void check(const World& world) {
    const auto serves = [&](int server) {
      const Server& at = world.servers[server];
      // A client of the server's view sends the key there.
      const int owner_then = (at.view == world.view) ? world.owner : 1 - world.owner;
      return at.view == world.view || at.view == world.view - 1 ? owner_then == server : false;
    };
    if (serves(0) && serves(1)) wrong_ = "two owners";
    const int done = world.issued - world.unserved;
    const Server& owner = world.servers[world.owner];
    // Until the new owner has taken the key, its value is what the source has.
    const bool is_awaited = owner.awaits || owner.view != world.view;
    int value = owner.now.has ? owner.now.value : 0;
    if (is_awaited && !owner.now.has) value = world.servers[1 - world.owner].now.value;
    if (owner.asks()) value = world.servers[1 - world.owner].now.in_log();
    if (value != done) wrong_ = "value " + std::to_string(value) + " of " + std::to_string(done);
    if (world.migrations == kMigrations && !world.is_under_way && world.issued == kAdditions &&
        world.unserved == 0)
      completed_ = true;
  }

  void go_on(const World& world) {
    client(world);
    for (int server : {0, 1}) {
      checkpoint(world, server);
      kill(world, server);
    }
    resolve(world);
    migrate(world);
  }

  template <typename Change>
  void when(bool is_possible, const World& world, const Change& change) {
    if (!is_possible) return;
    World next = world;
    change(next);
    reach(next);
  }

  void client(const World& world) {
    when(world.issued < kAdditions, world, [](World& next) {
      ++next.issued;
      ++next.unserved;
    });
    when(world.client_view != world.view, world, [](World& next) {
      next.client_view = next.view;
      next.client_owner = next.owner;
    });
    const Server& at = world.servers[world.client_owner];
    const bool is_there = at.now.has || !at.awaits || broken_ == Broken::kServesWhatIsMissing;
    const bool late = broken_ == Broken::kServesUntilOwned && world.step >= Step::kCut &&
                      world.client_owner == world.source() && at.view == world.client_view + 1;
    const bool serves = at.view == world.client_view || late;
    when(world.unserved > 0 && serves && is_there, world, [](World& next) {
      const Server& serving = next.servers[next.client_owner];
      Store& store = next.servers[next.client_owner].now;
      const int asked = serving.asks() ? next.servers[1 - next.client_owner].now.in_log() : 0;
      store.value = (store.has ? store.value : asked) + 1;
      store.has = true;
      ++store.serial;
      --next.unserved;
      ++next.served[next.client_owner];
    });
  }

  void checkpoint(const World& world, int server) {
    const Server& at = world.servers[server];
    const bool is_due = at.now.tie() != at.kept.tie() || (at.has_pulled && !at.is_covered);
    when(!at.awaits && is_due, world, [&](World& next) {
      Server& made = next.servers[server];
      made.kept = made.now;
      made.is_covered = made.has_pulled;
    });
  }

  // It is there again at once, and has asked the metadata service.
  void kill(const World& world, int server) {
    when(world.kills < kKills, world, [&](World& next) {
      ++next.kills;
      ++next.life[server];
      Server& at = next.servers[server];
      at.now = at.kept;
      at.staged_for = at.staged = 0;
      // The client sends again what the session had been served, and has not any more.
      next.unserved += next.served[server] - at.now.serial;
      next.served[server] = at.now.serial;
      if (next.is_under_way && server == next.source()) {
        if (!next.is_owned) next.is_under_way = false;  // cancelled
        next.step = next.is_owned ? Step::kOwned : Step::kNone;
      }
      at.view = next.view;
      at.awaits = next.is_under_way && next.is_owned && server == next.target();
      at.counts = next.is_unresolved && server == next.points_from &&
                  broken_ != Broken::kForgetsWhatItPointsTo;
      at.has_pulled = at.is_covered = false;
    });
  }

  void resolve(const World& world) {
    const int pulls = world.points_from, pulled = 1 - pulls;
    when(world.is_unresolved && !world.servers[pulls].has_pulled, world, [&](World& next) {
      Server& at = next.servers[pulls];
      const int there = next.servers[pulled].now.in_log();
      if (there >= 0 && (!at.now.has || broken_ == Broken::kPullsOverNewerOnes)) {
        at.now.has = true;
        at.now.value = there;
      }
      at.counts = false;
      at.has_pulled = true;
    });
    const Server& told = world.servers[pulls];
    const bool is_covered = told.is_covered || broken_ == Broken::kTellsBeforeACheckpoint;
    when(world.is_unresolved && told.has_pulled && is_covered, world, [&](World& next) {
      next.is_unresolved = false;
      next.servers[pulls].has_pulled = next.servers[pulls].is_covered = false;
    });
    // The log is compacted: what others own goes.
    const bool may_truncate =
        !world.is_unresolved || broken_ == Broken::kTruncatesWhileOthersPointIntoIt;
    const int other = 1 - world.owner;
    when(may_truncate && !world.is_under_way && world.servers[other].now.in_log() >= 0, world,
         [&](World& next) {
           Store& log = next.servers[other].now;
           log.has = log.has_old = false;
           log.value = log.old = 0;
         });
  }

  void migrate(const World& world) {
    // The target's checkpoint is made first: what it has of the key is of an earlier time.
    when(!world.is_under_way && world.migrations < kMigrations, world, [this](World& next) {
      ++next.migrations;
      next.is_under_way = true;
      next.is_owned = false;
      next.step = Step::kPrepared;
      Server& target = next.servers[1 - next.owner];
      if (target.now.has && broken_ != Broken::kTakesNothingOverOldOnes) {
        target.now.has_old = true;
        target.now.old = target.now.value;
        target.now.has = false;
        target.now.value = 0;
      }
      target.kept = target.now;
    });
    if (!world.is_under_way) return;
    const int source = world.source(), target = world.target();
    const bool may_move_on = !world.is_unresolved || broken_ == Broken::kMovesOnUnresolved;
    when(world.step == Step::kPrepared && may_move_on, world, [&](World& next) {
      next.step = Step::kCut;
      ++next.servers[source].view;
    });
    when(world.step == Step::kCut, world, [&](World& next) {
      next.step = Step::kKept;
      next.servers[source].kept = next.servers[source].now;
    });
    // It may be lost, too, and come late.
    const bool is_cut = world.step >= Step::kKept || broken_ == Broken::kStagesBeforeTheCut;
    when(is_cut && !world.is_owned && !world.servers[target].awaits, world, [&](World& next) {
      next.servers[target].staged_for = next.migrations;
      next.servers[target].staged = next.servers[source].now.value;
    });
    const Step owns_after = broken_ == Broken::kOwnsBeforeTheCutIsKept ? Step::kCut : Step::kKept;
    when(world.step == owns_after && !world.is_owned, world, [&](World& next) {
      next.step = Step::kOwned;
      next.is_owned = true;
      next.owner = target;
      ++next.view;
    });
    if (!world.is_owned) return;
    when(world.servers[target].view != world.view, world, [&](World& next) {
      Server& at = next.servers[target];
      at.view = next.view;
      at.awaits = true;
      const bool is_its = at.staged_for == next.migrations ||
                          (at.staged_for != 0 && broken_ == Broken::kTakesWhatIsStagedForAnother);
      if (is_its && !at.now.has) {
        at.now.has = true;
        at.now.value = at.staged;
      }
      at.staged_for = at.staged = 0;
    });
    // Where the record is on the device it is only said where. It counts when all have come.
    when(world.step == Step::kOwned && world.servers[target].awaits, world, [&](World& next) {
      next.servers[target].now.points = true;
      next.step = Step::kSent;
      next.target_life = next.life[target];
    });
    // Taking says to which life of the target it was.
    when(world.step == Step::kOwned && world.servers[target].awaits, world, [&](World& next) {
      Store& to = next.servers[target].now;
      if (!to.has || broken_ == Broken::kTakesTwice) to.value = next.servers[source].now.value;
      to.has = true;
      next.step = Step::kSent;
      next.target_life = next.life[target];
    });
    when(world.step == Step::kSent, world, [&](World& next) {
      if (next.target_life != next.life[target]) {
        next.step = Step::kOwned;  // all again
        return;
      }
      Server& at = next.servers[target];
      at.awaits = false;
      if (at.now.points) {
        at.counts = true;
        next.is_unresolved = true;
        next.points_from = target;
      }
      at.kept = at.now;
      next.is_under_way = next.is_owned = false;
      next.step = Step::kNone;
    });
  }

  const Broken broken_;
  std::map<World, bool> seen_;
  std::deque<World> waiting_;
  std::string wrong_;
  bool completed_ = false;
};

TEST(MigrationModel, ThereIsOneOwnerAndEveryAdditionCountsOnce) {
  Search search(Broken::kNothing);
  EXPECT_EQ(search.run(), "");
  EXPECT_TRUE(search.completed());
  EXPECT_GT(search.states(), 10'000U);
  RecordProperty("states", static_cast<int>(search.states()));
}

class BrokenMigration : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenMigration, IsFound) {
  EXPECT_NE(Search(GetParam()).run(), "");
}

INSTANTIATE_TEST_SUITE_P(Each, BrokenMigration,
                         ::testing::Values(Broken::kOwnsBeforeTheCutIsKept,
                                           Broken::kServesWhatIsMissing, Broken::kTakesTwice,
                                           Broken::kTakesNothingOverOldOnes,
                                           Broken::kServesUntilOwned, Broken::kStagesBeforeTheCut,
                                           Broken::kTakesWhatIsStagedForAnother,
                                           Broken::kTruncatesWhileOthersPointIntoIt,
                                           Broken::kTellsBeforeACheckpoint,
                                           Broken::kMovesOnUnresolved, Broken::kPullsOverNewerOnes,
                                           Broken::kForgetsWhatItPointsTo));

}  // namespace
}  // namespace turntable::shadowfax
