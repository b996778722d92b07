// The protocol of a migration (docs/shadowfax-design.md §3) as a machine of one key, searched
// exhaustively: source and target may be killed at every step, checkpoints may be made at any time,
// client and servers learn of views late, and a migration may be cancelled while its source lives.
// Ranges without the key leave the two servers for others, which makes views as well. Messages are
// steps of who sends them, but for an OWN and a COMPLETE that may come late, after who asked has
// died or has asked again. The metadata service loses nothing, so that its death only delays; it
// may refuse what it cannot keep. A protocol with one thing left out must be found wrong.

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace turntable::shadowfax {
namespace {

// How often it may happen.
struct Limits {
  int additions = 4, kills = 3;
  int migrations = 2;  // of the key: there, and back again
  int others = 0;      // of ranges without it
  int cancels = 0;
  int late = 0;      // an OWN or a COMPLETE is under way, and who asked knows no answer
  int refusals = 0;  // of what the metadata service cannot keep
};

enum class Broken : std::uint8_t {
  kNothing,
  kOwnsBeforeTheCutIsKept,
  kServesWhatIsMissing,          // the target makes a key that it lacks begin at 0
  kTakesTwice,                   // it takes a record although it has a newer one
  kTakesNothingOverOldOnes,      // what it had of an earlier time counts
  kServesUntilOwned,             // the source goes on after its cut
  kServesTheNextView,            // it does so in the next view, by its own count
  kReceivesWhileItDeparts,       // the target has a cut to make itself
  kStagesBeforeTheCut,           // what is staged may still change
  kTakesWhatIsStagedForAnother,  // migration
  kEnrolsWithWhatIsPrepared,     // a source that is there again cancels it later
  kTakesARefusalForACancel,      // of its CANCEL, by which somebody else has cancelled
  kTakesALateComplete,           // of the target's earlier life
  // Of indirection records:
  kTruncatesWhileOthersPointIntoIt,
  kTellsBeforeACheckpoint,  // that what it pointed to is its own
  kMovesOnUnresolved,
  kPullsOverNewerOnes,
  kForgetsWhatItPointsTo,  // after a crash, or its checkpoint has it not
};

// kRefused: it asks whether it is cancelled, or owned after all; kBack: so does one that has died.
enum class Step : std::uint8_t { kNone, kBack, kPrepared, kCut, kKept, kRefused, kOwned, kSent };

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
  bool waits = false;  // it serves nothing: a range is just leaving
  bool awaits = false;
  bool has_all = false;  // of what it awaited, and metadata has not noted that yet
  // What it was sent before it owns the key, in memory alone; 0: nothing.
  int staged_for = 0, staged = 0;
  // Its indirection records count; all has been pulled; and a checkpoint has been made since.
  bool counts = false, has_pulled = false, is_covered = false;

  bool asks() const { return !now.has && !awaits && counts && now.points; }
  auto tie() const {
    return std::tuple(now, kept, view, waits, awaits, has_all, staged_for, staged, counts,
                      has_pulled, is_covered);
  }
  bool operator<(const Server& other) const { return tie() < other.tie(); }
};

// A source's thread, which dies with it. That it was cancelled it hears when it asks.
struct Departure {
  Step step = Step::kNone;
  int id = 0;
  bool has_key = false;  // else it is of another range
  int given = 0;         // what the key had when the source cut
  int target_life = 0;   // the target's when sending began

  bool may_cut() const { return step >= Step::kPrepared && step < Step::kOwned; }
  bool cuts() const { return step >= Step::kCut && step < Step::kOwned; }
  bool sends() const { return has_key && step >= Step::kOwned; }
  auto tie() const { return std::tuple(step, id, has_key, given, target_life); }
  bool operator<(const Departure& other) const { return tie() < other.tie(); }
};

// What a target has asked metadata, and has no answer of.
struct LateComplete {
  int id = 0;  // 0: nothing
  int life = 0;
  bool points = false;

  auto tie() const { return std::tuple(id, life, points); }
  bool operator<(const LateComplete& other) const { return tie() < other.tie(); }
};

struct World {
  Server servers[2];
  Departure departures[2];
  // Metadata: views, and the migration that is under way.
  int view = 0;
  unsigned owners = 0;  // of the key: a bit for each view
  int under_way = 0;    // its id; 0: there is none
  bool is_owned = false, has_key = false;
  int source = 0;
  bool is_unresolved = false;
  int points_from = 0;  // who has indirection records then
  int last_id = 0;
  int late_own = 0;  // the id; 0: none is under way
  LateComplete late_complete;
  int migrations = 0, others = 0, cancels = 0, late = 0, refusals = 0;
  int life[2] = {0, 0};
  // The client.
  int client_view = 0;
  int issued = 0;
  int unserved = 0;        // issued, and to be done (again) by whoever owns the key
  int served[2] = {0, 0};  // by the session's count
  int kills = 0;

  int owner_in(int number) const { return static_cast<int>(owners >> number & 1U); }
  int owner() const { return owner_in(view); }
  // It owns the key, whose record the source sends.
  bool is_arriving_at(int server) const {
    return under_way != 0 && is_owned && has_key && server == 1 - source;
  }

  auto tie() const {
    return std::tuple(servers[0], servers[1], departures[0], departures[1], view, owners, under_way,
                      is_owned, has_key, source, is_unresolved, points_from, last_id, late_own,
                      late_complete, migrations, others, cancels, late, refusals, life[0], life[1],
                      client_view, issued, unserved, served[0], served[1], kills);
  }
  bool operator<(const World& other) const { return tie() < other.tie(); }
};

class Search {
 public:
  explicit Search(Broken broken, const Limits& limits = {}) : broken_(broken), limits_(limits) {}

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
    const auto require = [this](bool is_so, const std::string& otherwise) {
      if (!is_so && wrong_.empty()) wrong_ = otherwise;
    };
    const auto serves = [&](int server) {
      const Server& at = world.servers[server];
      // A client of the server's view sends the key there.
      return !at.waits && at.view <= world.view && world.owner_in(at.view) == server;
    };
    require(!serves(0) || !serves(1), "two owners");
    for (int server : {0, 1}) {
      const bool cuts = world.departures[server].step == Step::kCut;
      require(!cuts || !world.servers[server].awaits,
              "a cut that waits for records, which wait for it");
    }
    const int done = world.issued - world.unserved;
    const Server& owner = world.servers[world.owner()];
    const Store& other = world.servers[1 - world.owner()].now;
    // Until the new owner has taken the key, its value is what the source has.
    const bool is_arriving = world.is_arriving_at(world.owner());
    const bool is_awaited = (is_arriving && (owner.awaits || owner.view != world.view)) ||
                            (owner.awaits && world.departures[1 - world.owner()].sends());
    // Nobody sends it; when the owner is begun again it knows to what it points.
    const bool is_pointed_to = owner.awaits && !is_awaited && owner.now.points &&
                               world.is_unresolved && world.points_from == world.owner();
    int value = owner.now.has ? owner.now.value : 0;
    if (is_awaited && !owner.now.has) value = other.value;
    if (owner.asks() || (is_pointed_to && !owner.now.has)) value = other.in_log();
    require(value == done, "value " + std::to_string(value) + " of " + std::to_string(done));
    if (world.migrations == limits_.migrations && world.under_way == 0 &&
        world.issued == limits_.additions && world.unserved == 0)
      completed_ = true;
  }

  void go_on(const World& world) {
    client(world);
    for (int server : {0, 1}) {
      checkpoint(world, server);
      kill(world, server);
      adopt(world, server);
      depart(world, server);
    }
    resolve(world);
    begin(world);
    cancel(world);
    own_late(world);
    for (int source : {0, 1}) move(world, source);
    complete(world);
    complete_late(world);
  }

  template <typename Change>
  void when(bool is_possible, const World& world, const Change& change) {
    if (!is_possible) return;
    World next = world;
    change(next);
    reach(next);
  }

  void client(const World& world) {
    when(world.issued < limits_.additions, world, [](World& next) {
      ++next.issued;
      ++next.unserved;
    });
    when(world.client_view != world.view, world, [](World& next) { next.client_view = next.view; });
    const int asked = world.owner_in(world.client_view);
    const Server& at = world.servers[asked];
    const bool is_there = at.now.has || !at.awaits || broken_ == Broken::kServesWhatIsMissing;
    const bool serves = !at.waits && at.view == world.client_view;
    when(world.unserved > 0 && serves && is_there, world, [asked](World& next) {
      const Server& serving = next.servers[asked];
      Store& store = next.servers[asked].now;
      const int elsewhere = serving.asks() ? next.servers[1 - asked].now.in_log() : 0;
      store.value = (store.has ? store.value : elsewhere) + 1;
      store.has = true;
      ++store.serial;
      --next.unserved;
      ++next.served[asked];
    });
  }

  // Also while records arrive: those that a dead source does not send are not waited for.
  void checkpoint(const World& world, int server) {
    const Server& at = world.servers[server];
    const bool is_due = at.now.tie() != at.kept.tie() || (at.has_pulled && !at.is_covered);
    when(is_due, world, [&](World& next) {
      Server& made = next.servers[server];
      made.kept = made.now;
      made.is_covered = made.has_pulled;
    });
  }

  // It is there again at once, and has asked the metadata service.
  void kill(const World& world, int server) {
    when(world.kills < limits_.kills, world, [&](World& next) {
      ++next.kills;
      ++next.life[server];
      Server& at = next.servers[server];
      at.now = at.kept;
      at.staged_for = at.staged = 0;
      // The client sends again what the session had been served, and has not any more.
      next.unserved += next.served[server] - at.now.serial;
      next.served[server] = at.now.serial;
      next.departures[server] = {};
      if (next.under_way != 0 && server == next.source) {
        if (next.is_owned && next.has_key) {
          next.departures[server] = {
              .step = Step::kOwned, .id = next.under_way, .has_key = true, .given = at.now.value};
        } else if (next.is_owned || broken_ != Broken::kEnrolsWithWhatIsPrepared) {
          next.under_way = 0;  // another server has all, or it is cancelled
        } else {
          next.departures[server] = {
              .step = Step::kBack, .id = next.under_way, .has_key = next.has_key};
        }
      }
      at.view = next.view;
      at.waits = at.has_all = false;
      at.awaits = next.is_arriving_at(server);
      at.counts = next.is_unresolved && server == next.points_from &&
                  broken_ != Broken::kForgetsWhatItPointsTo;
      at.has_pulled = at.is_covered = false;
    });
  }

  // A client has brought a newer view, or a source records.
  void adopt(const World& world, int server) {
    const bool may = !world.departures[server].cuts();
    when(may && world.servers[server].view < world.view, world, [&](World& next) {
      Server& at = next.servers[server];
      at.view = next.view;
      if (!next.is_arriving_at(server)) return;
      at.awaits = true;
      const bool is_its = at.staged_for == next.under_way ||
                          (at.staged_for != 0 && broken_ == Broken::kTakesWhatIsStagedForAnother);
      if (is_its && !at.now.has) {
        at.now.has = true;
        at.now.value = at.staged;
      }
      at.staged_for = at.staged = 0;
    });
  }

  void resolve(const World& world) {
    const int pulls = world.points_from, pulled = 1 - pulls;
    when(world.is_unresolved && !world.servers[pulls].has_pulled, world, [&](World& next) {
      Server& at = next.servers[pulls];
      const int there = next.servers[pulled].now.in_log();
      const bool is_wanted = !at.now.has || broken_ == Broken::kPullsOverNewerOnes;
      if (at.counts && there >= 0 && is_wanted) {  // what does not count has been pulled already
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
    const int other = 1 - world.owner();
    const bool is_still = world.under_way == 0 && world.departures[other].step == Step::kNone;
    when(may_truncate && is_still && world.servers[other].now.in_log() >= 0, world,
         [&](World& next) {
           Store& log = next.servers[other].now;
           log.has = log.has_old = false;
           log.value = log.old = 0;
         });
  }

  void begin(const World& world) {
    if (world.under_way != 0) return;
    const auto begun = [](World& next, int source, bool has_key) {
      next.under_way = ++next.last_id;
      next.is_owned = false;
      next.has_key = has_key;
      next.source = source;
      next.departures[source] = {.step = Step::kPrepared, .id = next.under_way, .has_key = has_key};
    };
    const auto is_free = [&](int server) { return world.departures[server].step == Step::kNone; };
    const int owner = world.owner(), target = 1 - owner;
    const Departure& targets = world.departures[target];
    const bool may_receive = !targets.may_cut() || broken_ == Broken::kReceivesWhileItDeparts ||
                             (targets.cuts() && broken_ == Broken::kServesTheNextView);
    // The target's checkpoint is made first: what it has of the key is of an earlier time.
    const bool may_leave = is_free(owner) && !world.servers[owner].awaits;
    when(world.migrations < limits_.migrations && may_leave && may_receive, world,
         [&](World& next) {
           ++next.migrations;
           begun(next, owner, /*has_key=*/true);
           Server& to = next.servers[target];
           if (to.now.has && broken_ != Broken::kTakesNothingOverOldOnes) {
             to.now.has_old = true;
             to.now.old = to.now.value;
             to.now.has = false;
             to.now.value = 0;
           }
           to.kept = to.now;
         });
    for (int source : {0, 1}) {
      when(world.others < limits_.others && is_free(source), world, [&](World& next) {
        ++next.others;
        begun(next, source, /*has_key=*/false);
      });
    }
  }

  // By somebody: the source has not heard it.
  void cancel(const World& world) {
    when(world.under_way != 0 && !world.is_owned && world.cancels < limits_.cancels, world,
         [](World& next) {
           ++next.cancels;
           next.under_way = 0;
         });
  }

  void depart(const World& world, int server) {
    const Departure& departure = world.departures[server];
    const bool may_move_on =
        !departure.has_key || !world.is_unresolved || broken_ == Broken::kMovesOnUnresolved;
    when(departure.step == Step::kPrepared && may_move_on, world, [&](World& next) {
      Server& at = next.servers[server];
      next.departures[server].step = Step::kCut;
      next.departures[server].given = at.now.value;
      if (broken_ == Broken::kServesTheNextView) {
        ++at.view;
      } else {
        at.waits = broken_ != Broken::kServesUntilOwned;
      }
    });
    when(departure.step == Step::kCut, world, [&](World& next) {
      next.departures[server].step = Step::kKept;
      next.servers[server].kept = next.servers[server].now;
    });
    if (departure.has_key) stage(world, server);
    own(world, server);
  }

  // It may be lost, too, and come late.
  void stage(const World& world, int source) {
    const Departure& departure = world.departures[source];
    const bool is_early = broken_ == Broken::kStagesBeforeTheCut && departure.may_cut();
    const bool is_kept = departure.step == Step::kKept;
    const int target = 1 - source;
    when((is_kept || is_early) && !world.servers[target].awaits, world, [&](World& next) {
      Server& to = next.servers[target];
      to.staged_for = departure.id;
      to.staged = is_kept ? departure.given : next.servers[source].now.value;
    });
  }

  void own(const World& world, int source) {
    const Departure& departure = world.departures[source];
    const bool is_under_way = departure.id == world.under_way;
    find_out(world, source);
    const Step owns_after = broken_ == Broken::kOwnsBeforeTheCutIsKept ? Step::kCut : Step::kKept;
    if (!departure.cuts() || departure.step < owns_after) return;
    const bool asks = departure.step != Step::kRefused;
    when(asks && is_under_way && !world.is_owned, world, own_it);
    // It has had no answer, and asks again; or dies.
    when(asks && world.late < limits_.late && world.late_own == 0, world, [&](World& next) {
      ++next.late;
      next.late_own = departure.id;
    });
    when(asks && is_under_way && !world.is_owned && world.refusals < limits_.refusals, world,
         [&](World& next) {
           ++next.refusals;
           next.departures[source].step = Step::kRefused;
         });
    // The answer.
    when(is_under_way && world.is_owned, world, [&](World& next) {
      next.departures[source].step = Step::kOwned;
      Server& at = next.servers[source];
      at.waits = false;
      if (broken_ != Broken::kServesTheNextView) at.view = next.view;
      if (departure.has_key) return;
      next.departures[source] = {};  // another server has all
      next.under_way = 0;
    });
    // It is refused: the range stays.
    when(!is_under_way, world, [&](World& next) {
      next.departures[source] = {};
      Server& at = next.servers[source];
      at.waits = false;
      if (broken_ == Broken::kServesTheNextView) --at.view;
    });
  }

  static void own_it(World& next) {
    const int owner = next.has_key ? 1 - next.source : next.owner();
    next.is_owned = true;
    ++next.view;
    next.owners |= static_cast<unsigned>(owner) << static_cast<unsigned>(next.view);
  }

  void own_late(const World& world) {
    when(world.late_own != 0, world, [](World& next) {
      if (next.late_own == next.under_way && !next.is_owned) own_it(next);
      next.late_own = 0;
    });
  }

  // CANCEL of a source that does not know what holds. That it cannot be kept either changes
  // nothing: it is asked again.
  void find_out(const World& world, int source) {
    const Departure& departure = world.departures[source];
    if (departure.step != Step::kRefused && departure.step != Step::kBack) return;
    const bool is_under_way = departure.id == world.under_way;
    const auto is_cancelled = [&](World& next) {
      next.departures[source] = {};
      next.servers[source].waits = false;
    };
    when(is_under_way && !world.is_owned, world, [&](World& next) {
      next.under_way = 0;
      is_cancelled(next);
    });
    const bool is_refused = (departure.step == Step::kBack && is_under_way && world.is_owned) ||
                            (is_under_way && !world.is_owned && world.refusals < limits_.refusals);
    const bool takes_it =
        departure.step == Step::kBack || broken_ == Broken::kTakesARefusalForACancel;
    when(is_refused && takes_it, world, [&](World& next) {
      ++next.refusals;
      is_cancelled(next);
    });
  }

  void move(const World& world, int source) {
    const int target = 1 - source;
    const Departure& departure = world.departures[source];
    if (!departure.sends()) return;
    const Server& to = world.servers[target];
    const bool may_send = departure.step == Step::kOwned && to.awaits;
    const auto sent = [&](World& next) {
      next.departures[source].step = Step::kSent;
      next.departures[source].target_life = next.life[target];
    };
    // Where the record is on the device it is only said where. It counts when all have come.
    when(may_send, world, [&](World& next) {
      next.servers[target].now.points = true;
      sent(next);
    });
    // Taking says to which life of the target it was.
    when(may_send, world, [&](World& next) {
      Store& taken = next.servers[target].now;
      if (!taken.has || broken_ == Broken::kTakesTwice) taken.value = departure.given;
      taken.has = true;
      sent(next);
    });
    const bool is_of_this_life = departure.target_life == world.life[target];
    when(departure.step == Step::kSent && !is_of_this_life, world,
         [&](World& next) { next.departures[source].step = Step::kOwned; });  // all again
    when(departure.step == Step::kSent && is_of_this_life && to.awaits, world, [&](World& next) {
      Server& at = next.servers[target];
      at.awaits = false;
      at.has_all = true;
      if (at.now.points) at.counts = true;
      at.kept = at.now;
    });
    // It hears from the target that metadata has noted all.
    when(departure.id != world.under_way && !to.awaits, world,
         [&](World& next) { next.departures[source] = {}; });
  }

  // The target tells metadata that it has all.
  void complete(const World& world) {
    if (world.under_way == 0) return;
    const int target = 1 - world.source;
    const Server& at = world.servers[target];
    when(at.has_all, world, [&](World& next) {
      complete_it(next, at.now.points);
      next.departures[next.source] = {};
    });
    when(at.has_all && world.late < limits_.late && world.late_complete.id == 0, world,
         [&](World& next) {
           ++next.late;
           next.late_complete = {
               .id = next.under_way, .life = next.life[target], .points = at.now.points};
         });
  }

  static void complete_it(World& next, bool points) {
    const int target = 1 - next.source;
    if (points) {
      next.is_unresolved = true;
      next.points_from = target;
    }
    next.under_way = 0;
    next.servers[target].has_all = false;
  }

  void complete_late(const World& world) {
    const LateComplete& late = world.late_complete;
    when(late.id != 0, world, [&](World& next) {
      const bool is_taken =
          late.life == next.life[1 - next.source] || broken_ == Broken::kTakesALateComplete;
      if (late.id == next.under_way && is_taken) complete_it(next, late.points);
      next.late_complete = {};
    });
  }

  const Broken broken_;
  const Limits limits_;
  std::map<World, bool> seen_;
  std::deque<World> waiting_;
  std::string wrong_;
  bool completed_ = false;
};

constexpr Limits kWithOthers{.additions = 2, .kills = 1, .others = 1, .cancels = 1};
constexpr Limits kWithLate{.additions = 2, .kills = 2, .cancels = 1, .late = 1, .refusals = 2};

TEST(MigrationModel, ThereIsOneOwnerAndEveryAdditionCountsOnce) {
  const std::map<std::string, Limits> searches = {
      {"states", {}}, {"states_with_others", kWithOthers}, {"states_with_late", kWithLate}};
  for (const auto& [name, limits] : searches) {
    Search search(Broken::kNothing, limits);
    EXPECT_EQ(search.run(), "");
    EXPECT_TRUE(search.completed());
    EXPECT_GT(search.states(), 10'000U);
    RecordProperty(name, static_cast<int>(search.states()));
  }
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

// The number may be that of a view in which the key is the source's, which has not heard of it; or
// of a later one, in which it gets a key, and knows nothing of that.
TEST(MigrationModel, ASourceThatServesTheNextViewIsFound) {
  constexpr Broken kBroken = Broken::kServesTheNextView;
  EXPECT_EQ(Search(kBroken, {.others = 1}).run(), "two owners");
  EXPECT_EQ(Search(kBroken, kWithOthers).run(), "value 0 of 1");
}

// Its OWN comes after it has begun to serve its range again.
TEST(MigrationModel, ASourceThatIsThereAgainWithWhatItHadPreparedIsFound) {
  EXPECT_EQ(Search(Broken::kEnrolsWithWhatIsPrepared, kWithLate).run(), "two owners");
}

TEST(MigrationModel, ARefusalThatIsTakenForACancelIsFound) {
  EXPECT_EQ(Search(Broken::kTakesARefusalForACancel, kWithLate).run(), "two owners");
}

// The target has been begun again. It does not know yet that its indirection records count, so it
// pulls nothing, and says that it has.
TEST(MigrationModel, ACompleteOfAnEarlierLifeIsFound) {
  EXPECT_EQ(Search(Broken::kTakesALateComplete, kWithLate).run(), "value 0 of 1");
}

TEST(MigrationModel, ATargetThatHasACutToMakeIsFound) {
  EXPECT_EQ(Search(Broken::kReceivesWhileItDeparts, kWithOthers).run(),
            "a cut that waits for records, which wait for it");
}

}  // namespace
}  // namespace turntable::shadowfax
