// What the agent answers to BEGIN, POINT and FINISH, with a switch and servers in memory.
#include "farreach/cache/snapshot_taker.h"

#include <gtest/gtest.h>

#include <deque>

#include "farreach/cache/testing.h"

namespace turntable::cache {
namespace {

using testing::key_number;
using testing::keys;
using testing::small;
using testing::value_record;
using testing::World;

using Cut = std::map<Key, Record>;

Cut cut_of(const std::vector<Record>& records) {
  Cut cut;
  for (const Record& record : records) cut[record.key] = record;
  EXPECT_EQ(cut.size(), records.size()) << "a key comes twice";
  return cut;
}

class SnapshotTakerTest : public ::testing::Test {
 protected:
  explicit SnapshotTakerTest(std::uint32_t cache_size = 4) : world(small(cache_size)) {
    world.start();
  }

  // The answer, once it is there; what is sent meanwhile is delivered.
  Message ask(MessageType type, std::uint32_t id) {
    const std::optional<Message>& answer = tell(type, id);
    world.run();
    return answer.value_or(failure_of({}, "there was no answer"));
  }
  // Sends a request and leaves what follows to a later world.run().
  std::optional<Message>& tell(MessageType type, std::uint32_t id) {
    std::optional<Message>& answer = answers_.emplace_back();
    world.agent->handle(world.named(type, {id}), [&answer](const Message& came) { answer = came; });
    return answer;
  }
  void begin(std::uint32_t id) { EXPECT_EQ(ask(MessageType::kBegin, id).text, ""); }
  // The flag is set, and no slot has been loaded yet.
  void point(std::uint32_t id) {
    const std::optional<Message>& answer = tell(MessageType::kPoint, id);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->text, "");
    EXPECT_EQ(world.the_switch.token, id);
  }
  // The slots are loaded only once time has passed: the first questions are lost.
  void point_before_loads(std::uint32_t id) {
    world.the_switch.faults.lost = 1;
    point(id);
    world.the_switch.faults.lost = 0;
  }
  Cut finish(std::uint32_t id) {
    const Message answer = ask(MessageType::kFinish, id);
    EXPECT_EQ(answer.text, "");
    EXPECT_EQ(world.the_switch.token, 0U);
    return cut_of(answer.records);
  }
  // Without time passing.
  void evict(const Key& key) { change(MessageType::kEvict, {key_only(key)}); }
  void admit(const std::vector<Record>& records) { change(MessageType::kAdmit, records); }

  void settle() {
    while (world.step()) {
    }
  }

  World world;

 private:
  void change(MessageType type, const std::vector<Record>& records) {
    bool is_done = false;
    world.agent->handle(request(type, {}, records), [&](const Message&) { is_done = true; });
    settle();
    EXPECT_TRUE(is_done);
  }

  std::deque<std::optional<Message>> answers_;
};

const Key kA = key_number(0);
const Key kB = key_number(1);
const Key kC = key_number(2);

TEST_F(SnapshotTakerTest, WithoutTrafficTheCutIsWhatTheSlotsHold) {
  world.admit(keys(0, 4));
  const std::uint32_t a = world.the_switch.write(value_record(kA, 7));
  Record deleted = key_only(kB);
  deleted.kind = Record::Kind::kDeleted;
  deleted.number = world.the_switch.write(deleted);
  world.the_switch.get(kC);  // filled with the server's, number 0
  begin(1);
  point(1);
  // The fourth is ADMITTED: its record is the server's.
  EXPECT_EQ(finish(1), cut_of({value_record(kA, 7, a), deleted, world.the_switch.get(kC)}));
}

TEST_F(SnapshotTakerTest, AWriteAfterThePointIsNotInTheCut) {
  world.admit(keys(0, 2));
  const std::uint32_t a = world.the_switch.write(value_record(kA, 1));
  const std::uint32_t b = world.the_switch.write(value_record(kB, 2));
  begin(1);
  point(1);
  world.the_switch.write(value_record(kA, 3));  // before its slot is loaded
  world.the_switch.write(value_record(kA, 4));
  world.run();
  world.the_switch.write(value_record(kB, 5));  // after
  EXPECT_EQ(finish(1), cut_of({value_record(kA, 1, a), value_record(kB, 2, b)}));
  EXPECT_EQ(world.agent->snapshot().counters().reports, 2U);
}

// The first write after the point comes to a slot without a record; the next report of the key,
// after an eviction, has one with a number.
TEST_F(SnapshotTakerTest, ASlotThatWasAdmittedAtThePointHasNoRecordInTheCut) {
  world.admit(keys(0, 1));
  begin(1);
  point_before_loads(1);
  world.the_switch.write(value_record(kA, 3));
  evict(kA);
  admit(keys(1, 1));  // has the slot now
  admit(keys(0, 1));
  world.the_switch.get(kA);
  world.the_switch.write(value_record(kA, 4));
  EXPECT_EQ(finish(1), Cut());
}

TEST_F(SnapshotTakerTest, AnEvictedRecordIsInTheCutAlthoughTheSlotHasAnotherKey) {
  world.admit(keys(0, 1));
  const std::uint32_t a = world.the_switch.write(value_record(kA, 1));
  begin(1);
  point_before_loads(1);
  evict(kA);
  admit(keys(1, 1));
  const std::uint32_t b = world.the_switch.write(value_record(kB, 2));
  ASSERT_EQ(world.the_switch.lookup.at(kB), 0);
  EXPECT_EQ(b, world.the_switch.get(kB).number);
  EXPECT_EQ(finish(1), cut_of({value_record(kA, 1, a)}));
  // What is stored after the point makes the server take its snapshot first.
  ASSERT_EQ(world.asked.size(), 1U);
  EXPECT_EQ(world.asked[0].numbers, std::vector<std::uint32_t>{1});
}

// Back in a slot, without a record: the one of before the eviction counts.
TEST_F(SnapshotTakerTest, AnEvictedKeyThatIsAdmittedAgainKeepsItsRecordOfThePoint) {
  world.admit(keys(0, 1));
  const std::uint32_t a = world.the_switch.write(value_record(kA, 1));
  begin(1);
  point_before_loads(1);
  evict(kA);
  admit({keys(1, 1)[0], keys(0, 1)[0]});
  ASSERT_NE(world.the_switch.lookup.at(kA), 0);
  world.the_switch.write(value_record(kA, 2));  // its report says: ADMITTED
  EXPECT_EQ(finish(1), cut_of({value_record(kA, 1, a)}));
}

TEST_F(SnapshotTakerTest, AReportedRecordIsOlderThanTheEvictedOne) {
  world.admit(keys(0, 1));
  const std::uint32_t a = world.the_switch.write(value_record(kA, 1));
  begin(1);
  point_before_loads(1);
  world.the_switch.write(value_record(kA, 2));
  evict(kA);
  EXPECT_EQ(finish(1), cut_of({value_record(kA, 1, a)}));
}

// Counted by the data plane, and still on its way when the end comes.
TEST_F(SnapshotTakerTest, AReportThatIsUnderWayAtTheEndIsWaitedFor) {
  world.admit(keys(0, 1));
  world.the_switch.write(value_record(kA, 1));
  begin(1);
  point(1);
  settle();
  world.the_switch.write(value_record(kA, 2));
  EXPECT_EQ(finish(1).at(kA).value, std::vector<std::uint8_t>{1});
}

TEST_F(SnapshotTakerTest, ALostReportGivesTheSnapshotUpAndTheNextOneGoesOn) {
  world.admit(keys(0, 2));
  const std::uint32_t a = world.the_switch.write(value_record(kA, 1));
  begin(1);
  point(1);
  world.the_switch.faults.reports_lost = true;
  const std::uint32_t newer = world.the_switch.write(value_record(kA, 2));
  world.the_switch.faults.reports_lost = false;
  EXPECT_EQ(ask(MessageType::kFinish, 1).text,
            "snapshot 1 was given up: the switch sent 1 CASE1 reports and 0 have come");
  EXPECT_EQ(world.the_switch.token, 0U);
  begin(2);
  point(2);
  EXPECT_EQ(finish(2), cut_of({value_record(kA, 2, newer)}));
  EXPECT_GT(newer, a);
  EXPECT_EQ(world.agent->snapshot().counters().given_up, 1U);
}

TEST_F(SnapshotTakerTest, AReportThatComesTwiceCountsOnce) {
  world.admit(keys(0, 1));
  world.the_switch.write(value_record(kA, 1));
  begin(1);
  point(1);
  ControlFrame report{.operation = ControlFrame::Operation::kCase1, .key = kA};
  report.token = 9;  // another snapshot's
  world.agent->received(report);
  world.the_switch.write(value_record(kA, 2));
  settle();
  report.token = 1;
  world.agent->received(report);
  EXPECT_EQ(finish(1).at(kA).value, std::vector<std::uint8_t>{1});
  EXPECT_EQ(world.agent->snapshot().counters().late_reports, 2U);
}

TEST_F(SnapshotTakerTest, BeginWaitsForWhatIsUnderWayAndHoldsWhatComesThen) {
  world.admit(keys(0, 4));
  world.the_switch.write(value_record(kA, 1));
  world.servers_answer = false;
  world.agent->handle(request(MessageType::kEvict, {}, keys(0, 1)), [](const Message&) {});
  world.run(300);
  const std::optional<Message>& begun = tell(MessageType::kBegin, 1);
  world.run(300);
  EXPECT_FALSE(begun.has_value());
  world.servers_answer = true;
  world.run();
  ASSERT_TRUE(begun.has_value());
  std::vector<std::uint32_t> outcomes;
  world.agent->handle(request(MessageType::kAdmit, {}, keys(7, 1)),
                      [&](const Message& answer) { outcomes = answer.numbers; });
  world.agent->handle(request(MessageType::kEvict, {}, keys(1, 1)), [](const Message&) {});
  world.run(300);
  EXPECT_TRUE(outcomes.empty());
  EXPECT_TRUE(world.the_switch.lookup.contains(kB));
  point(1);
  world.run();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_NE(outcomes[0], 0U);
  EXPECT_FALSE(world.the_switch.lookup.contains(kB));
}

TEST_F(SnapshotTakerTest, MessagesMayComeTwice) {
  world.admit(keys(0, 1));
  world.the_switch.write(value_record(kA, 1));
  begin(1);
  begin(1);
  point(1);
  point(1);
  const std::optional<Message>& first = tell(MessageType::kFinish, 1);
  const Cut again = finish(1);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(cut_of(first->records), again);
  EXPECT_EQ(finish(1), again);  // from memory
  EXPECT_EQ(again.size(), 1U);
  EXPECT_EQ(world.agent->snapshot().counters().taken, 1U);
}

TEST_F(SnapshotTakerTest, ANewerBeginGivesUpTheOlderAndIdsOnlyGrow) {
  world.admit(keys(0, 1));
  begin(5);
  point(5);
  begin(6);
  EXPECT_EQ(world.the_switch.token, 0U);
  EXPECT_EQ(ask(MessageType::kFinish, 5).text, "snapshot 5 is not under way here");
  EXPECT_NE(ask(MessageType::kBegin, 5).text, "");
  EXPECT_NE(ask(MessageType::kPoint, 5).text, "");
  point(6);
  finish(6);
  EXPECT_NE(ask(MessageType::kBegin, 6).text, "");
  EXPECT_NE(ask(MessageType::kPoint, 6).text, "");
  EXPECT_EQ(world.the_switch.token, 0U);
}

TEST_F(SnapshotTakerTest, AnotherControllerFindsNeitherFlagNorHeldAdmissions) {
  world.admit(keys(0, 1));
  begin(1);
  world.agent->handle(request(MessageType::kHello), [](const Message&) {});
  EXPECT_EQ(world.admit(keys(1, 1)), std::vector<bool>{true});
  begin(2);
  point(2);
  world.agent->handle(request(MessageType::kHello), [](const Message&) {});
  EXPECT_EQ(world.the_switch.token, 0U);
  EXPECT_EQ(ask(MessageType::kFinish, 2).text,
            "snapshot 2 was given up: the controller connected anew");
  begin(3);
  point(3);
  finish(3);
}

TEST_F(SnapshotTakerTest, FinishBeforeThePointReleasesWhatBeginHeld) {
  begin(1);
  EXPECT_NE(ask(MessageType::kFinish, 1).text, "");
  EXPECT_EQ(world.admit(keys(0, 1)), std::vector<bool>{true});
}

TEST_F(SnapshotTakerTest, AKilledAgentsSuccessorClearsTheFlag) {
  world.admit(keys(0, 1));
  begin(1);
  point(1);
  world.kill();
  world.start();
  EXPECT_EQ(world.the_switch.token, 0U);
  EXPECT_NE(ask(MessageType::kPoint, 1).text, "");
  EXPECT_NE(ask(MessageType::kFinish, 1).text, "");
  begin(2);
  point(2);
  finish(2);
}

TEST_F(SnapshotTakerTest, AKilledAgentsSuccessorServesIfTheSwitchDid) {
  for (const bool with_flag : {false, true}) {
    if (with_flag) begin(1), point(1);
    world.kill();
    world.begins_anew = false;
    world.start();
    EXPECT_TRUE(world.agent->epoch().serves) << with_flag;
    EXPECT_EQ(world.the_switch.snapshot_default, "between_snapshots");
  }
  world.kill();
  world.fresh();
  world.start();
  EXPECT_FALSE(world.agent->epoch().serves);
  EXPECT_NE(ask(MessageType::kBegin, 2).text.find("has not got back what it had"),
            std::string::npos);
  EXPECT_EQ(world.the_switch.snapshot_default, "no_snapshot");
}

TEST_F(SnapshotTakerTest, ASnapshotIsOfOneEpoch) {
  const std::uint32_t other = world.agent->epoch().number + 1;
  begin(1);
  for (const auto type : {MessageType::kBegin, MessageType::kPoint, MessageType::kFinish}) {
    Message answer;
    world.agent->handle(request(type, {1, other}), [&](const Message& came) { answer = came; });
    EXPECT_NE(answer.text.find("it is for switch epoch " + std::to_string(other)),
              std::string::npos);
  }
  point(1);
  finish(1);
}

TEST_F(SnapshotTakerTest, SlotsThatAreWrittenAnewEndASnapshot) {
  world.admit(keys(0, 1));
  begin(1);
  point(1);
  world.agent->handle(world.named(MessageType::kReadmit, {}, {value_record(kA, 6)}),
                      [](const Message&) {});
  EXPECT_EQ(ask(MessageType::kFinish, 1).text, "snapshot 1 was given up: slots are written anew");
}

TEST_F(SnapshotTakerTest, NetCacheHasNoSnapshots) {
  AgentSettings settings = small(2);
  settings.write_back = false;
  World other(settings);
  other.start();
  Message answer;
  other.agent->handle(other.named(MessageType::kBegin, {1}),
                      [&](const Message& came) { answer = came; });
  EXPECT_EQ(answer.text, "only farreach has snapshots");
}

// Writes, admissions and evictions go on while frames get lost and come twice. Every write is
// answered at once, so the cut is what a reader would have found at the point: of slots and the
// servers' snapshots the newer record.
class SnapshotUnderTraffic : public SnapshotTakerTest {
 protected:
  SnapshotUnderTraffic() : SnapshotTakerTest(8) {}

  void traffic() {
    const Key key = key_number(random() % kKeys);
    if (random() % 2 == 0) {
      newest[key] = world.the_switch.write(value_record(key, std::uint8_t(random())));
    } else {
      world.the_switch.get(key);
    }
    // The controller's START comes some time after the point.
    const std::uint32_t token = world.the_switch.token;
    if (token != 0 && random() % 64 == 0) world.servers.take_snapshot(token);
  }
  void churn() {
    world.agent->handle(request(MessageType::kAdmit, {}, keys(random() % kKeys, 3)),
                        [](const Message&) {});
    world.agent->handle(request(MessageType::kEvict, {}, keys(random() % kKeys, 1)),
                        [](const Message&) {});
  }
  void run() {
    world.run(3000, [this] { traffic(); });
  }

  static constexpr unsigned kKeys = 24;
  std::mt19937 random{11};
  std::map<Key, std::uint32_t> newest;
};

TEST_F(SnapshotUnderTraffic, TheCutIsTheStateAtThePoint) {
  world.the_switch.faults = {.lost = 0.1, .twice = 0.1};
  for (std::uint32_t id = 1; id <= 200; ++id) {
    churn();
    const std::optional<Message>& begun = tell(MessageType::kBegin, id);
    run();
    ASSERT_TRUE(begun.has_value());
    std::map<Key, std::uint32_t> expected = newest;
    point(id);
    churn();
    run();
    churn();
    world.servers.take_snapshot(id);  // START at the latest
    const std::optional<Message>& finished = tell(MessageType::kFinish, id);
    run();
    ASSERT_TRUE(finished.has_value());
    ASSERT_EQ(finished->text, "");
    std::map<Key, std::uint32_t> cut;
    for (const auto& [key, record] : world.servers.snapshot()) cut[key] = record.number;
    for (const Record& record : finished->records) {
      cut[record.key] = std::max(cut[record.key], record.number);
    }
    for (unsigned key = 0; key < kKeys; ++key) {
      ASSERT_EQ(cut[key_number(key)], expected[key_number(key)]) << "snapshot " << id;
    }
  }
  EXPECT_GT(world.agent->snapshot().counters().reports, 200U);
  EXPECT_GT(world.agent->counters().evicted, 100U);
}

}  // namespace
}  // namespace turntable::cache
