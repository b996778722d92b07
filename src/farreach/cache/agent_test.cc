#include "farreach/cache/agent.h"

#include <gtest/gtest.h>

#include <set>

#include "farreach/cache/testing.h"

namespace turntable::cache {
namespace {

using testing::key_number;
using testing::keys;
using testing::small;
using testing::value_record;
using testing::World;

// Whether a key was admitted.
constexpr bool kCached = true, kRefused = false;
using Outcomes = std::vector<bool>;

// No slot is lost, no key is in two slots, and the switch agrees with the agent.
void expect_consistent(World& world, std::uint32_t capacity) {
  EXPECT_EQ(world.failures, std::vector<std::string>());
  EXPECT_EQ(world.agent->in_transit(), 0U);
  std::set<Slot> slots;
  for (const auto& [key, slot] : world.the_switch.lookup) {
    EXPECT_TRUE(slots.insert(slot).second) << "slot " << slot << " has two keys";
    EXPECT_EQ(world.agent->slots().find(key), slot);
    EXPECT_EQ(world.the_switch.slot(slot).valid, kNormal);
  }
  EXPECT_EQ(world.agent->slots().cached(), slots.size());
  for (std::uint32_t i = 0; i < capacity; ++i) {
    const auto slot = static_cast<Slot>(i);
    const std::uint8_t expected = slots.contains(slot) ? kNormal : kIgnored;
    EXPECT_EQ(world.the_switch.slot(slot).valid, expected) << slot;
  }
  // Every free slot can be used.
  const std::size_t free = capacity - slots.size();
  EXPECT_EQ(world.admit(keys(1000, free)), Outcomes(free, kCached));
  EXPECT_EQ(world.the_switch.lookup.size(), capacity);
}

TEST(Agent, AdmitsWithoutAskingAnybody) {
  World world(small(4));
  world.start();
  EXPECT_EQ(world.admit(keys(0, 3)), Outcomes(3, kCached));
  EXPECT_TRUE(world.asked.empty());
  EXPECT_EQ(world.the_switch.lookup.size(), 3U);
  const Slot slot = world.the_switch.lookup.at(key_number(1));
  EXPECT_EQ(state_of(world.the_switch.slot(slot).record.cell), kAdmitted);
  EXPECT_EQ(world.the_switch.slot(slot).record.egress_port,
            3 + workload::partition_of(workload::slot_of(workload::key_id(1)), 4));

  EXPECT_EQ(world.admit(keys(1, 1)), Outcomes{kCached});  // already
  EXPECT_EQ(world.agent->counters().admitted, 3U);
  expect_consistent(world, 4);
}

TEST(Agent, RefusesKeysThatNoServerHas) {
  World world(small(4));
  world.start();
  EXPECT_EQ(world.admit({key_only(Key{1})}), Outcomes{kRefused});
}

TEST(Agent, ARecordThatNoServerHasStoredStaysInItsSlot) {
  World world(small(1));
  world.start();
  world.admit(keys(0, 1));
  const std::uint32_t number = world.the_switch.write(value_record(key_number(0), 7));
  world.stores_that_fail = 2;
  std::size_t asked = 0;
  world.agent->spawn(world.agent->evict(key_number(0)));
  world.run(5000, [&] {
    if (world.stores_that_fail == 0) return;
    asked = world.asked.size();
    EXPECT_TRUE(world.the_switch.lookup.contains(key_number(0)));
    EXPECT_EQ(world.the_switch.get(key_number(0)).number, number);
  });
  EXPECT_GE(asked, 1U);
  EXPECT_EQ(world.asked.size(), 3U);
  EXPECT_EQ(world.servers.of(key_number(0)).number, number);
  EXPECT_FALSE(world.the_switch.lookup.contains(key_number(0)));
  EXPECT_EQ(world.agent->counters().store_failures, 2U);
}

TEST(Agent, EvictsTheLeastFrequentAndWritesItBack) {
  World world(small(2));
  world.start();
  world.admit(keys(0, 2));
  const std::uint32_t number = world.the_switch.write(value_record(key_number(0), 7));
  for (int i = 0; i < 3; ++i) world.the_switch.get(key_number(1));
  EXPECT_EQ(world.admit(keys(2, 1)), Outcomes{kCached});
  ASSERT_EQ(world.asked.size(), 1U);
  EXPECT_EQ(world.asked[0].type, MessageType::kStore);
  EXPECT_EQ(world.asked[0].records, std::vector<Record>{value_record(key_number(0), 7, number)});
  EXPECT_FALSE(world.the_switch.lookup.contains(key_number(0)));
  EXPECT_EQ(world.evicted, std::vector<Key>{key_number(0)});
  EXPECT_EQ(world.servers.of(key_number(0)).number, number);
  expect_consistent(world, 2);
}

TEST(Agent, WritesBackTombstonesAndWhatALargeWriteSuperseded) {
  World world(small(2));
  world.start();
  world.admit(keys(0, 2));
  Record deleted = key_only(key_number(0));
  deleted.kind = Record::Kind::kDeleted;
  world.the_switch.write(deleted);
  world.the_switch.write(value_record(key_number(1), 5));
  Record large = key_only(key_number(1));
  large.kind = Record::Kind::kLarge;
  const std::uint32_t newest = world.the_switch.write(large);
  world.agent->handle(request(MessageType::kEvict, {}, keys(0, 2)), [](const Message&) {});
  world.run();
  ASSERT_EQ(world.asked.size(), 2U);
  EXPECT_EQ(world.asked[0].records[0].kind, Record::Kind::kDeleted);
  EXPECT_EQ(world.asked[1].records[0].number, newest - 1);
  EXPECT_EQ(world.servers.of(key_number(1)).number, newest);  // the server keeps the newer one
  EXPECT_EQ(world.the_switch.lookup.size(), 0U);
}

TEST(Agent, AServerThatDoesNotAnswerKeepsTheSlotBeingEvicted) {
  World world(small(1));
  world.start();
  world.admit(keys(0, 1));
  world.the_switch.write(value_record(key_number(0), 1));
  world.servers_answer = false;
  world.agent->handle(request(MessageType::kAdmit, {}, keys(1, 1)), [](const Message&) {});
  world.run(200);
  EXPECT_EQ(world.the_switch.slot(0).valid, kBeingEvicted);
  EXPECT_EQ(world.the_switch.get(key_number(0)).value, (std::vector<std::uint8_t>{1}));
  world.the_switch.write(value_record(key_number(0), 2));
  EXPECT_EQ(world.the_switch.get(key_number(0)).value, (std::vector<std::uint8_t>{2}));
  world.servers_answer = true;
  world.run();
  EXPECT_TRUE(world.the_switch.lookup.contains(key_number(1)));
  EXPECT_EQ(world.the_switch.get(key_number(0)).value, (std::vector<std::uint8_t>{2}));
  expect_consistent(world, 1);
}

TEST(Agent, ASmallerCacheEvictsWhatHasNoSlot) {
  World world(small(8));
  world.start();
  world.admit(keys(0, 8));
  world.agent->set_cache_size(3);
  world.run();
  EXPECT_EQ(world.agent->slots().cached(), 3U);
  expect_consistent(world, 3);
}

// Whoever waits for a key that makes room for another must not find it in the slot it has left.
TEST(Agent, AKeyThatMakesRoomMayBeEvictedAndAdmittedMeanwhile) {
  for (int steps = 0; steps < 40; ++steps) {
    World world(small(1));
    world.start();
    world.admit(keys(0, 1));
    world.agent->handle(request(MessageType::kAdmit, {}, keys(1, 1)), [](const Message&) {});
    for (int i = 0; i < steps; ++i) world.step();
    world.agent->handle(request(MessageType::kEvict, {}, keys(0, 1)), [](const Message&) {});
    Message answer;
    world.agent->handle(request(MessageType::kAdmit, {}, keys(0, 1)),
                        [&](const Message& admitted) { answer = admitted; });
    world.run();
    ASSERT_EQ(answer.numbers.size(), 1U);
    EXPECT_EQ((answer.numbers[0] != 0), world.the_switch.lookup.contains(key_number(0)))
        << "after " << steps << " steps";
    expect_consistent(world, 1);
  }
}

TEST(Agent, ASmallerCacheEvictsWhatIsEntering) {
  for (int steps = 0; steps < 40; ++steps) {
    World world(small(4));
    world.start();
    world.admit(keys(0, 2));
    world.agent->handle(request(MessageType::kAdmit, {}, keys(2, 4)), [](const Message&) {});
    for (int i = 0; i < steps; ++i) world.step();
    world.agent->set_cache_size(2);
    world.run();
    EXPECT_LE(world.agent->slots().cached(), 2U) << "after " << steps << " steps";
    expect_consistent(world, 2);
  }
}

TEST(Agent, ReadmissionForgetsRecordsOfServersThatBeganAnew) {
  World world(small(2));
  world.start();
  world.admit(keys(0, 2));
  world.the_switch.write(value_record(key_number(0), 9));
  const std::uint64_t digest = world.agent->slots().digest();
  bool done = false;
  world.agent->handle(world.named(MessageType::kReadmit, {}, keys(0, 5)),
                      [&](const Message&) { done = true; });
  world.run();
  world.run();
  EXPECT_TRUE(done);
  EXPECT_TRUE(world.the_switch.get(key_number(0)).value.empty());  // the server's
  world.agent->handle(world.named(MessageType::kReadmit, {}, {value_record(key_number(1), 6)}),
                      [](const Message&) {});
  world.run();
  world.run();
  EXPECT_EQ(world.the_switch.slot(1).record.cell, kLatest);
  EXPECT_EQ(world.the_switch.get(key_number(1)).value, (std::vector<std::uint8_t>{6}));
  EXPECT_EQ(world.agent->slots().digest(), digest);
}

TEST(Agent, SetsEveryNumber) {
  World world(small(2));
  world.start();
  world.agent->handle(world.named(MessageType::kSetNumbers, {77}), [](const Message&) {});
  EXPECT_EQ(world.the_switch.numbers, std::vector<std::uint64_t>(kSlotsOfSwitch, 77));
}

TEST(Agent, IgnoresAndCountsWhatItDidNotAskFor) {
  World world(small(2));
  world.start();
  ControlFrame stray{.operation = ControlFrame::Operation::kSetValid, .is_answer = true};
  stray.request_id = 12345;
  world.agent->received(stray);
  stray.is_answer = false;
  world.agent->received(stray);
  Message failure;
  world.agent->handle(request(MessageType::kMaxNumber),
                      [&](const Message& answer) { failure = answer; });
  EXPECT_FALSE(failure.text.empty());
  EXPECT_EQ(world.agent->frame_counters().unexpected, 1U);
  EXPECT_EQ(world.agent->counters().unexpected, 2U);
}

TEST(Agent, WriteThroughServesWhatItAdmitsAndWritesNothingBack) {
  AgentSettings settings = small(1);
  settings.write_back = false;
  World world(settings);
  world.start();
  world.admit({value_record(key_number(0), 3, 8)});
  EXPECT_EQ(world.the_switch.slot(0).record.cell, kLatest | 8U);
  Record large = key_only(key_number(1));
  large.kind = Record::Kind::kLarge;
  world.admit({large});
  EXPECT_EQ(world.the_switch.slot(0).record.cell, kSuperseded);  // left to the server
  world.admit({value_record(key_number(2), 4, 9)});
  EXPECT_TRUE(world.asked.empty());
  EXPECT_EQ(world.the_switch.lookup.size(), 1U);
  EXPECT_TRUE(world.the_switch.lookup.contains(key_number(2)));
}

TEST(Agent, ReportsAHotKeyOnceUntilItIsAnswered) {
  AgentSettings settings = small(1);
  settings.write_back = false;
  World world(settings);
  world.start();
  ControlFrame report{.operation = ControlFrame::Operation::kHot, .key = key_number(4)};
  world.agent->received(report);
  world.agent->received(report);
  ASSERT_EQ(world.asked.size(), 1U);
  EXPECT_EQ(world.asked[0].type, MessageType::kHot);
  world.step();
  world.agent->received(report);
  EXPECT_EQ(world.asked.size(), 2U);
  world.agent->set_admission(false);
  report.key = key_number(5);
  world.agent->received(report);
  EXPECT_EQ(world.asked.size(), 2U);
}

TEST(Agent, AdmitsHotKeysOnlyWhileAdmissionIsOnAndWhatItIsToldToAlways) {
  World world(small(8));
  world.start();
  const auto outcome = [&](MessageType type, std::size_t key) {
    std::vector<std::uint32_t> outcomes;
    world.agent->handle(request(type, {}, keys(key, 1)),
                        [&](const Message& answer) { outcomes = answer.numbers; });
    world.run();
    return outcomes.at(0) != 0;
  };
  EXPECT_EQ(outcome(MessageType::kHot, 1), kCached);
  world.agent->set_admission(false);
  EXPECT_EQ(outcome(MessageType::kHot, 2), kRefused);
  EXPECT_EQ(outcome(MessageType::kAdmit, 3), kCached);
  EXPECT_EQ(world.agent->counters().admitted, 2U);
  expect_consistent(world, 2);
}

std::vector<CachedKey> slots_of(World& world) {
  std::vector<CachedKey> keys;
  world.agent->handle(request(MessageType::kSlots),
                      [&](const Message& answer) { keys = read_cached(answer); });
  return keys;
}

AgentSettings small_netcache(std::uint32_t cache_size) {
  AgentSettings settings = small(cache_size);
  settings.write_back = false;
  return settings;
}

TEST(Agent, AnAdmissionHasAnIdAndTheNumberThatItsKeysWritesHadReached) {
  World world(small_netcache(1));
  world.start();
  const Key key = key_number(0), other = key_number(1);
  world.the_switch.write(value_record(key, 1));
  world.the_switch.write(value_record(key, 2));
  world.admit({value_record(key, 2, 2)});
  const std::vector<CachedKey> first = slots_of(world);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].key, key);
  EXPECT_NE(first[0].admission.id, 0U);
  EXPECT_EQ(first[0].admission.number, 2U);
  world.admit({value_record(other, 1, 0)});  // takes its place
  world.admit({value_record(key, 2, 2)});
  const std::vector<CachedKey> second = slots_of(world);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_FALSE(is_same_or_later(first[0].admission.id, second[0].admission.id));
  ASSERT_EQ(world.ended.size(), 2U);
  EXPECT_EQ(world.ended[0], first[0]);
}

TEST(Agent, AKeyOnItsWayInIsAmongTheSlots) {
  World world(small_netcache(1));
  world.start();
  world.agent->handle(request(MessageType::kAdmit, {}, {value_record(key_number(0), 1)}),
                      [](const Message&) {});
  EXPECT_EQ(slots_of(world).size(), 1U);
  EXPECT_FALSE(world.the_switch.lookup.contains(key_number(0)));
}

// Its record may be older by now: the successor has told the servers what is cached.
TEST(Agent, AnAdmissionThatHasNoSlotYetEndsWithItsController) {
  World world(small_netcache(1));
  world.start();
  world.admit({value_record(key_number(0), 1)});
  std::vector<CachedKey> admitted;
  world.agent->handle(request(MessageType::kAdmit, {}, {value_record(key_number(1), 1)}),
                      [&](const Message& answer) { admitted = read_cached(answer); });
  world.agent->handle(request(MessageType::kHello), [](const Message&) {});
  world.run();
  ASSERT_EQ(admitted.size(), 1U);
  EXPECT_EQ(admitted[0].admission.id, 0U);
  EXPECT_FALSE(world.the_switch.lookup.contains(key_number(1)));
  EXPECT_TRUE(slots_of(world).empty());
}

// Random requests of clients and of the controller, while frames get lost and come twice: whatever
// a client reads is what was written last.
TEST(Agent, NothingIsLostUnderFaultsAndTraffic) {
  World world(small(8));
  world.start();
  world.the_switch.faults = {.lost = 0.1, .twice = 0.1};
  std::map<Key, std::uint32_t> newest;
  std::mt19937 random(7);
  const auto traffic = [&] {
    const Key key = key_number(random() % 24);
    if (random() % 2 == 0) {
      newest[key] = world.the_switch.write(value_record(key, std::uint8_t(random())));
    } else {
      ASSERT_EQ(world.the_switch.get(key).number, newest[key]);
    }
  };
  for (int round = 0; round < 60; ++round) {
    world.agent->handle(request(MessageType::kAdmit, {}, keys(random() % 24, 3)),
                        [](const Message&) {});
    world.agent->handle(request(MessageType::kEvict, {}, keys(random() % 24, 1)),
                        [](const Message&) {});
    world.run(5000, traffic);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(world.agent->counters().evicted, 20U);
  EXPECT_GT(world.agent->frame_counters().retries, 20U);
  world.the_switch.faults = {};
  for (const auto& [key, number] : newest) EXPECT_EQ(world.the_switch.get(key).number, number);
  expect_consistent(world, 8);
}

// The agent dies after each operation that it does for an admission that needs an eviction.
TEST(Agent, KilledAtAnyStepItsSuccessorGoesOn) {
  std::uint64_t last = 0;
  for (std::uint64_t death = 1; last == 0; ++death) {
    World world(small(2));
    world.start();
    world.admit(keys(0, 2));
    std::map<Key, std::uint32_t> newest;
    for (int key = 0; key < 2; ++key) {
      newest[key_number(key)] = world.the_switch.write(value_record(key_number(key), 1));
    }
    const std::uint64_t before = world.the_switch.operations;
    world.the_switch.operations_until_death = before + death;
    world.agent->handle(request(MessageType::kAdmit, {}, keys(2, 1)), [](const Message&) {});
    world.run(300);
    if (world.the_switch.operations <= before + death) last = death;  // it survived
    world.kill();
    world.start();
    for (const auto& [key, number] : newest) {
      EXPECT_EQ(world.the_switch.get(key).number, number) << "killed at " << death;
    }
    expect_consistent(world, 2);
  }
  // 2 LOADs of candidates, SET_VALID 3, LOAD, STORE, SET_VALID 0, the table, the drain; ADMIT, the
  // table, SET_VALID 1.
  EXPECT_EQ(last, 11U);
}

}  // namespace
}  // namespace turntable::cache
