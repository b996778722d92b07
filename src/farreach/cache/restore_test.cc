// RESTORE: an empty switch gets all its slots at once, as frames would have written them.
#include <gtest/gtest.h>

#include <algorithm>

#include "farreach/cache/testing.h"

namespace turntable::cache {
namespace {

using testing::key_number;
using testing::keys_of;
using testing::value_record;
using testing::World;

constexpr std::uint64_t kNumber = 70'000;

AgentSettings settings_of(bool write_back, std::uint32_t cache_size = 8) {
  return {.write_back = write_back, .egress_ports = {3, 4, 5, 6}, .cache_size = cache_size};
}

// A value of full length, a short one, an empty one, a tombstone, a large one, and one that is not
// known.
std::vector<Record> records() {
  std::vector<Record> all;
  for (std::uint8_t i = 0; i < 6; ++i) all.push_back(value_record(key_number(i), i, kNumber + i));
  for (std::size_t i = 0; i < kMaxCachedBytes; ++i) {
    all[0].value.resize(i + 1);
    all[0].value[i] = static_cast<std::uint8_t>(i + 1);
  }
  all[2].value.clear();
  for (const auto& [place, kind] :
       {std::pair(3, Record::Kind::kDeleted), std::pair(4, Record::Kind::kLarge),
        std::pair(5, Record::Kind::kAbsent)}) {
    all[static_cast<std::size_t>(place)].kind = kind;
    all[static_cast<std::size_t>(place)].value.clear();
  }
  return all;
}

Message ask(World& world, const Message& asked) {
  Message answered;
  world.agent->handle(asked, [&](const Message& answer) { answered = answer; });
  world.run();
  return answered;
}

Message restore(World& world, std::vector<Record> all, std::uint32_t id = 1) {
  return world.tell(MessageType::kRestore, {}, std::move(all), id);
}

bool is_untouched(World& world) {
  return ask(world, request(MessageType::kCachedSet, {1})).numbers.at(5) == 1;
}

class RestoreTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Methods, RestoreTest, ::testing::Values(true, false),
                         [](const auto& method) { return method.param ? "FarReach" : "NetCache"; });

TEST_P(RestoreTest, LeavesWhatFramesLeave) {
  World by_frames(settings_of(GetParam())), at_once(settings_of(GetParam()));
  by_frames.start();
  at_once.start();
  by_frames.admit(keys_of(records()));
  by_frames.tell(MessageType::kReadmit, {}, records());
  EXPECT_EQ(restore(at_once, records()).text, "");

  EXPECT_EQ(at_once.the_switch.lookup, by_frames.the_switch.lookup);
  ASSERT_EQ(at_once.the_switch.lookup.size(), records().size());
  for (Slot slot = 0; slot < kSlotsOfSwitch; ++slot) {
    const auto& expected = by_frames.the_switch.slot(slot);
    const auto& restored = at_once.the_switch.slot(slot);
    EXPECT_EQ(restored.valid, expected.valid) << slot;
    EXPECT_EQ(restored.frequency, expected.frequency) << slot;
    EXPECT_EQ(restored.record.length, expected.record.length) << slot;
    EXPECT_EQ(restored.record.value, expected.record.value) << slot;
    const std::uint32_t state = state_of(expected.record.cell);
    EXPECT_EQ(state_of(restored.record.cell), state) << slot;
    if (state == kAdmitted) continue;  // the rest is an epoch
    EXPECT_EQ(restored.record.cell, expected.record.cell) << slot;
  }
  EXPECT_EQ(at_once.agent->slots().digest(), by_frames.agent->slots().digest());
  // The agent goes on as after any admission.
  EXPECT_EQ(ask(at_once, request(MessageType::kEvict, {}, keys_of(records()))).text, "");
  EXPECT_TRUE(at_once.the_switch.lookup.empty());
  EXPECT_EQ(at_once.failures, std::vector<std::string>());
}

TEST_P(RestoreTest, IsCarriedOutOnceForEachRequest) {
  World world(settings_of(GetParam()));
  world.start();
  EXPECT_EQ(restore(world, records(), 7).text, "");
  EXPECT_EQ(restore(world, records(), 7).text, "");  // the connection broke
  EXPECT_EQ(world.agent->counters().restored, records().size());
  // A recovery is repeated, with other records.
  std::vector<Record> newer = records();
  newer.pop_back();
  newer[0].number += 1;
  EXPECT_EQ(restore(world, newer, 8).text, "");
  EXPECT_EQ(world.the_switch.lookup.size(), newer.size());
  EXPECT_EQ(world.the_switch.get(newer[0].key).number, newer[0].number);
  EXPECT_EQ(world.agent->slots().cached(), newer.size());
  EXPECT_EQ(world.agent->slots().used(), newer.size());
}

TEST_P(RestoreTest, TakesThePlaceOfWhatWasAdmittedSinceTheStart) {
  World world(settings_of(GetParam(), 6));
  world.start();
  world.admit({key_only(key_number(100)), key_only(key_number(1))});
  EXPECT_TRUE(is_untouched(world));
  EXPECT_EQ(restore(world, records()).text, "");
  EXPECT_EQ(world.the_switch.lookup.size(), records().size());
  EXPECT_FALSE(world.the_switch.lookup.contains(key_number(100)));
  EXPECT_TRUE(std::count(world.evicted.begin(), world.evicted.end(), key_number(100)) == 1);
}

TEST_P(RestoreTest, ASwitchThatRequestsHavePassedIsLeftAsItIs) {
  World world(settings_of(GetParam()));
  world.start();
  world.admit(keys_of(records()));
  world.the_switch.write(value_record(key_number(0), 9));
  EXPECT_FALSE(is_untouched(world));
  EXPECT_NE(restore(world, records()).text.find("requests have passed the switch"),
            std::string::npos);
  EXPECT_EQ(world.the_switch.lookup.size(), records().size());
  // The next agent sees it, too; and GETs alone are seen by what they are counted as.
  world.kill();
  world.start();
  EXPECT_FALSE(is_untouched(world));
  world.the_switch.numbers.assign(kSlotsOfSwitch, 0);
  EXPECT_TRUE(is_untouched(world));
  world.the_switch.outcomes[3] = 1;  // GET_HIT
  EXPECT_FALSE(is_untouched(world));
  world.the_switch.outcomes[3] = 0;
  world.the_switch.outcomes[27] = 1;  // CONTROL
  EXPECT_TRUE(is_untouched(world));
}

TEST_P(RestoreTest, RefusesAndChangesNothing) {
  World world(settings_of(GetParam(), 5));
  world.start();
  EXPECT_NE(restore(world, records(), 1).text.find("6 records for the 5 slots of the cache"),
            std::string::npos);
  std::vector<Record> twice = {records()[0], records()[0]};
  EXPECT_NE(restore(world, twice, 2).text.find("record 1 has a key that came before"),
            std::string::npos);
  std::vector<Record> wide = {records()[0]};
  wide[0].number = kLargestNumber + 1;
  EXPECT_NE(restore(world, wide, 3).text.find("record 0 has"), std::string::npos);
  world.the_switch.unwritable_register = "vallen.cells";
  EXPECT_EQ(restore(world, {records()[0]}, 4).text, "no register vallen.cells");
  EXPECT_TRUE(world.the_switch.lookup.empty());
  EXPECT_EQ(world.agent->slots().used(), 0U);
  world.the_switch.unwritable_register.clear();
  EXPECT_EQ(restore(world, {records()[0]}, 5).text, "");
}

TEST_P(RestoreTest, IsForOneEpochAndBeginsToServe) {
  World world(settings_of(GetParam()));
  world.begins_anew = false;
  world.fresh();
  world.start();
  const SwitchEpoch epoch = world.agent->epoch();
  EXPECT_FALSE(epoch.serves);
  for (const auto type : {MessageType::kSetNumbers, MessageType::kRestore, MessageType::kServe}) {
    std::vector<std::uint32_t> numbers;
    if (type == MessageType::kSetNumbers) numbers.push_back(7);
    numbers.push_back(epoch.number - 1);
    EXPECT_EQ(ask(world, request(type, numbers)).text,
              "it is for switch epoch " + std::to_string(epoch.number - 1) +
                  ", and this is epoch " + std::to_string(epoch.number) +
                  ": the agent has been configured since");
  }
  EXPECT_FALSE(world.agent->epoch().serves);
  EXPECT_EQ(world.the_switch.numbers.front(), 0U);
  const std::string refusal = world.tell(MessageType::kReadmit, {}, records()).text;
  EXPECT_NE(refusal.find("has not got back what it had"), std::string::npos) << refusal;
  EXPECT_EQ(restore(world, records()).text, "");
  EXPECT_TRUE(world.agent->epoch().serves);
  EXPECT_EQ(world.tell(MessageType::kReadmit, {}, records()).text, "");
}

TEST_P(RestoreTest, ASwitchThatWasStartedUnderneathIsFound) {
  World world(settings_of(GetParam()));
  world.start();
  world.admit(keys_of(records()));
  world.the_switch.lookup.clear();
  EXPECT_NE(ask(world, request(MessageType::kCachedSet)).text.find("started again"),
            std::string::npos);
}

}  // namespace
}  // namespace turntable::cache
