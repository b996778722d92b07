#include "farreach/cache/recovery.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/command_error.h"
#include "farreach/cache/testing.h"

namespace turntable::cache {
namespace {

using Json = nlohmann::json;
using testing::key_number;
using testing::value_record;

constexpr unsigned kScale = 4;
constexpr std::int64_t kDeadlineNs = 5'000'000'000;

unsigned partition_of(const Key& key) {
  return workload::partition_of(workload::slot_of(*workload::key_id_from_wire(key)), kScale);
}

Record deleted(const Key& key, std::uint32_t number) {
  return {.key = key, .kind = Record::Kind::kDeleted, .number = number, .value = {}};
}

// Everybody whom a recovery asks; answers come a millisecond later.
class Rack {
 public:
  testing::FakeTimers timers;
  std::map<Key, Record> stores;                                 // of all servers
  std::set<unsigned> down;                                      // partitions without a server
  std::map<Recovery::SessionId, std::map<Key, Record>> copies;  // of each client
  std::set<Recovery::SessionId> leaving;  // clients that go when they are asked
  std::vector<Record> snapshot;
  // The switch and its agent.
  SwitchEpoch epoch{.number = 1};
  bool is_untouched = true;
  std::uint32_t cache_size = 100'000;
  std::vector<Record> slots;
  std::uint32_t number = 0;
  std::uint32_t missed = 0;  // of what is replayed, fenced out by the first server asked
  unsigned asked_twice = 4;  // partition whose server's connection broke; 4: none
  std::map<unsigned, std::uint32_t> fences;
  std::string refusal;  // the agent's, of RESTORE
  bool is_killed_at_fetch =
      false;  // the switch: its successor is empty, and has an epoch of its own
  std::vector<std::string> order;  // requests, each as often as it came in a row
  std::size_t largest_request = 0;

  RecoverySettings settings{.write_back = true,
                            .scale = kScale,
                            .partitions = {0, 1, 2, 3},
                            .clients = 0,
                            .deadline_ns = kDeadlineNs};
  std::vector<Key> expected;
  std::string error;  // of the last recover()

  void store(const Record& record) {
    const Record& old = stores.try_emplace(record.key, record).first->second;
    if (record.number > old.number) stores[record.key] = record;
  }

  Json recover(std::size_t steps = SIZE_MAX) {
    settings.deadline_ns = timers.now_ns() + kDeadlineNs;
    error.clear();
    order.clear();
    Json result;
    bool ended = false;
    Recovery recovery(timers, peers(), settings);
    net::Tasks tasks(timers, [](const std::exception_ptr&) { FAIL(); });
    const auto drive = [](Recovery& what, std::vector<Key> keys, Json& answer, std::string& why,
                          bool& at_end) -> net::Task<void> {
      try {
        answer = co_await what.run(std::move(keys));
      } catch (const CommandError& failure) {
        why = failure.what();
      }
      at_end = true;
    };
    tasks.spawn(drive(recovery, expected, result, error, ended));
    while (!ended && steps-- > 0 && (timers.run_due() || timers.advance())) {
    }
    return result;
  }

  static std::vector<std::string> phases(const Json& result) {
    std::vector<std::string> names;
    for (const Json& phase : result.at("phases")) names.push_back(phase.at("phase"));
    return names;
  }

 private:
  Recovery::Peers peers() {
    return {
        .ask_agent = [this](Message asked) { return answer(*this, std::move(asked), 0, 0); },
        .ask_server = [this](
                          unsigned partition,
                          Message asked) { return answer(*this, std::move(asked), partition, 0); },
        .ask_client = [this](Recovery::SessionId session,
                             Message asked) { return answer(*this, std::move(asked), 0, session); },
        .served =
            [this] {
              std::set<unsigned> there = {0, 1, 2, 3};
              for (const unsigned partition : down) there.erase(partition);
              return there;
            },
        .clients =
            [this] {
              std::vector<Recovery::SessionId> sessions;
              for (const auto& [session, records] : copies) sessions.push_back(session);
              return sessions;
            },
        .last_snapshot = [this] { return snapshot; }};
  }

  static net::Task<Message> answer(Rack& rack, Message asked, unsigned partition,
                                   Recovery::SessionId session) {
    if (rack.order.empty() || rack.order.back() != name_of(asked.type)) {
      rack.order.emplace_back(name_of(asked.type));
    }
    if (asked.type != MessageType::kRestore) {
      rack.largest_request = std::max(rack.largest_request, asked.records.size());
    }
    const bool is_server = asked.type >= MessageType::kFetch && asked.type < MessageType::kCopies;
    do {
      net::Completion<bool> later;
      const auto alive = std::make_shared<char>();
      rack.timers.call_at(rack.timers.now_ns() + 1'000'000,
                          [&later, alive = std::weak_ptr<char>(alive)] {
                            if (!alive.expired()) later.complete(true);
                          });
      co_await later;
    } while ((is_server || asked.type == MessageType::kFence) && rack.down.contains(partition));
    co_return rack.handle(asked, partition, session);
  }

  Message handle(const Message& asked, unsigned partition, Recovery::SessionId session) {
    if (const std::string why = refusal_of(asked, epoch); !why.empty()) {
      return failure_of(asked, why);
    }
    switch (asked.type) {
      case MessageType::kCachedSet:
        return answer_to(asked,
                         {0, 0, cache_size, epoch.number, epoch.serves, is_untouched ? 1U : 0U},
                         testing::keys_of(slots));
      case MessageType::kCopies:
        return leaving.contains(session) ? failure_of(asked, "gone") : page(asked, session);
      case MessageType::kReplay: {
        std::uint32_t newer = 0;
        for (const Record& record : asked.records) {
          EXPECT_EQ(partition_of(record.key), partition);
          if (record.number > stores[record.key].number) ++newer;
          store(record);
        }
        Message told = answer_to(asked, {newer, std::exchange(missed, 0U)});
        told.was_asked_before = partition == asked_twice;
        return told;
      }
      case MessageType::kMaxNumber: {
        std::uint32_t largest = 0;
        for (const auto& [key, record] : stores) {
          if (partition_of(key) == asked.numbers.at(0)) largest = std::max(largest, record.number);
        }
        return answer_to(asked, {largest});
      }
      case MessageType::kFence:
        fences[partition] = asked.numbers.at(0);
        return answer_to(asked);
      case MessageType::kSetNumbers:
        number = asked.numbers.at(0);
        return answer_to(asked);
      case MessageType::kFetch: {
        if (std::exchange(is_killed_at_fetch, false)) {
          epoch = {.number = epoch.number + 1};
          number = 0;
        }
        std::vector<Record> records;
        for (const Record& wanted : asked.records) {
          const auto found = stores.find(wanted.key);
          records.push_back(found == stores.end() ? wanted : found->second);
        }
        return answer_to(asked, {}, records);
      }
      case MessageType::kRestore:
        if (!refusal.empty()) return failure_of(asked, refusal);
        slots = asked.records;
        epoch.serves = true;
        return answer_to(asked);
      default:
        ADD_FAILURE() << name_of(asked.type);
        return answer_to(asked);
    }
  }

  Message page(const Message& asked, Recovery::SessionId session) {
    std::vector<Record> records;
    for (const auto& [key, record] : copies.at(session)) {
      if (!asked.records.empty() && key <= asked.records.front().key) continue;
      if (records.size() < asked.numbers.at(0)) records.push_back(record);
    }
    return answer_to(asked, {}, records);
  }
};

TEST(Recovery, TakesOfEveryKeyTheLargestNumber) {
  Rack rack;
  const auto record = [](std::uint64_t key, std::uint8_t value, std::uint32_t number) {
    return value_record(key_number(key), value, number);
  };
  // Key 0 is newest at client 2, key 1 in the snapshot, key 2 at its server; key 3 was deleted, key
  // 4 written again after it had been.
  rack.copies[1] = {{key_number(0), record(0, 1, 5)},
                    {key_number(1), record(1, 1, 5)},
                    {key_number(3), deleted(key_number(3), 9)},
                    {key_number(4), deleted(key_number(4), 3)}};
  rack.copies[2] = {{key_number(0), record(0, 2, 6)},
                    {key_number(3), record(3, 2, 8)},
                    {key_number(4), record(4, 2, 4)}};
  rack.snapshot = {record(0, 3, 4), record(1, 3, 7), record(2, 3, 1), record(3, 3, 1)};
  rack.store(record(2, 4, 2));
  rack.settings.clients = 2;
  rack.missed = 7;
  const Json result = rack.recover();
  EXPECT_EQ(rack.error, "");
  EXPECT_EQ(rack.stores.at(key_number(0)), record(0, 2, 6));
  EXPECT_EQ(rack.stores.at(key_number(1)), record(1, 3, 7));
  EXPECT_EQ(rack.stores.at(key_number(2)), record(2, 4, 2));
  EXPECT_EQ(rack.stores.at(key_number(3)), deleted(key_number(3), 9));
  EXPECT_EQ(rack.stores.at(key_number(4)), record(4, 2, 4));
  EXPECT_EQ(result.at("newer"), 4);
  EXPECT_EQ(result.at("missed"), 7);
  EXPECT_EQ(rack.number, 9U + 65'536U);
  EXPECT_EQ(result.at("number"), rack.number);
  EXPECT_EQ(rack.fences,
            (std::map<unsigned, std::uint32_t>{
                {0, rack.number}, {1, rack.number}, {2, rack.number}, {3, rack.number}}));
  // Nobody said what was cached: all of these.
  EXPECT_EQ(result.at("restored"), 5);
  for (const Record& slot : rack.slots) EXPECT_EQ(slot, rack.stores.at(slot.key));
}

// What it took the first time it counts as there when it is asked again.
TEST(Recovery, WhatAServerTookThatWasAskedTwiceIsNotKnown) {
  Rack rack;
  rack.copies[1] = {{key_number(0), value_record(key_number(0), 1, 5)}};
  rack.expected = {key_number(0)};
  rack.asked_twice = partition_of(key_number(0));
  const Json result = rack.recover();
  EXPECT_EQ(rack.error, "");
  EXPECT_EQ(rack.stores.at(key_number(0)).number, 5U);
  EXPECT_TRUE(result.at("newer").is_null());
  EXPECT_TRUE(result.at("missed").is_null());
}

TEST(Recovery, PhasesAreInOrderAndCounted) {
  Rack rack;
  rack.copies[1] = {{key_number(0), value_record(key_number(0), 1, 5)}};
  rack.expected = {key_number(7), key_number(0)};
  const Json result = rack.recover();
  EXPECT_EQ(Rack::phases(result),
            (std::vector<std::string>{"collect", "replay", "numbers", "fetch", "restore"}));
  EXPECT_EQ(rack.order, (std::vector<std::string>{"CACHED_SET", "COPIES", "REPLAY", "MAX_NUMBER",
                                                  "FENCE", "SET_NUMBERS", "FETCH", "RESTORE"}));
  EXPECT_EQ(result.at("phases").at(1).at("records"), 1);
  EXPECT_EQ(result.at("phases").at(1).at("seconds"), 0.001);
  EXPECT_EQ(result.at("phases").at(1).at("records_per_s"), 1000.0);
  EXPECT_EQ(result.at("phases").at(4).at("records"), 2);
  // The expected set, in its order; what a server does not have is told so.
  ASSERT_EQ(rack.slots.size(), 2U);
  EXPECT_EQ(rack.slots[0], key_only(key_number(7)));
  EXPECT_EQ(rack.slots[1], value_record(key_number(0), 1, 5));
}

TEST(Recovery, NetCacheNeedsNumbersAndRecordsOnly) {
  Rack rack;
  rack.settings.write_back = false;
  rack.copies[1] = {{key_number(0), value_record(key_number(0), 1, 500)}};
  rack.store(value_record(key_number(3), 1, 17));
  rack.expected = {key_number(3)};
  const Json result = rack.recover();
  EXPECT_EQ(Rack::phases(result), (std::vector<std::string>{"numbers", "fetch", "restore"}));
  EXPECT_EQ(rack.number, 17U + 65'536U);
  EXPECT_EQ(rack.slots, std::vector<Record>{value_record(key_number(3), 1, 17)});
}

TEST(Recovery, ManyRecordsTravelInBatchesOfBoundedSize) {
  constexpr std::uint64_t kKeys = 20'000;
  Rack rack;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    rack.copies[1 + i % 2][key_number(i)] = value_record(key_number(i), 3, 10);
  }
  const Json result = rack.recover();
  EXPECT_EQ(result.at("restored"), kKeys);
  EXPECT_EQ(rack.stores.size(), kKeys);
  EXPECT_EQ(result.at("newer"), kKeys);
  EXPECT_LE(rack.largest_request, 4096U);
}

TEST(Recovery, TheCacheHoldsAsManyAsItHasSlotsThoseOfTheSnapshotFirst) {
  Rack rack;
  rack.cache_size = 3;
  for (std::uint64_t i = 0; i < 5; ++i) {
    rack.copies[1][key_number(i)] = value_record(key_number(i), 1, 5);
  }
  rack.snapshot = {value_record(key_number(100), 2, 3), value_record(key_number(101), 2, 3)};
  rack.recover();
  ASSERT_EQ(rack.slots.size(), 3U);
  const std::set<Key> keys = {rack.slots[0].key, rack.slots[1].key, rack.slots[2].key};
  EXPECT_TRUE(keys.contains(key_number(100)) && keys.contains(key_number(101)));
}

TEST(Recovery, ASwitchThatRequestsHavePassedKeepsWhatItHas) {
  Rack rack;
  rack.is_untouched = false;
  rack.slots = {value_record(key_number(0), 9, 1'000'000)};
  rack.copies[1] = {{key_number(0), value_record(key_number(0), 1, 5)}};
  rack.recover();
  EXPECT_NE(rack.error.find("requests have passed the switch since it was started"),
            std::string::npos);
  EXPECT_EQ(rack.order, std::vector<std::string>{"CACHED_SET"});
  EXPECT_TRUE(rack.stores.empty());
}

TEST(Recovery, MayBreakOffAnywhereAndBeRepeated) {
  const auto prepare = [](Rack& rack) {
    for (std::uint32_t i = 0; i < 50; ++i) {
      rack.copies[1 + i % 3][key_number(i)] = value_record(key_number(i), 1, 5 + i % 7);
      if (i % 2 == 0) rack.store(value_record(key_number(i), 2, 7));
    }
  };
  Rack whole;
  prepare(whole);
  whole.recover();
  std::size_t broken_off = 0;
  for (std::size_t steps = 1; steps < 60; ++steps) {
    Rack rack;
    prepare(rack);
    rack.recover(steps);  // the controller dies
    broken_off += rack.slots.empty() ? 1 : 0;
    rack.recover();
    EXPECT_EQ(rack.error, "");
    rack.recover();
    EXPECT_EQ(rack.stores, whole.stores) << steps;
    EXPECT_EQ(rack.slots, whole.slots) << steps;
    EXPECT_EQ(rack.number, whole.number) << steps;
  }
  EXPECT_GT(broken_off, 10U);
}

TEST(Recovery, WaitsForServersUntilTheDeadlineAndNamesThem) {
  Rack rack;
  rack.down = {2};
  rack.copies[1] = {{key_number(0), value_record(key_number(0), 1, 5)}};
  rack.timers.call_at(1'000'000'000, [&] { rack.down.clear(); });
  rack.recover();
  EXPECT_EQ(rack.error, "");

  Rack never;
  never.down = {2, 3};
  never.recover();
  EXPECT_EQ(never.error,
            "cache-controller recover: not done before the deadline, in phase numbers; it waits "
            "for the server of partition 2 (there is none: start kvserver for it), the server of "
            "partition 3 (there is none: start kvserver for it). See to them and call `recover` "
            "again");
  EXPECT_EQ(never.number, 0U);
  EXPECT_TRUE(never.slots.empty());
}

TEST(Recovery, WaitsForClients) {
  Rack rack;
  rack.settings.clients = 1;
  rack.timers.call_at(1'000'000'000, [&] {
    rack.copies[5] = {{key_number(0), value_record(key_number(0), 1, 5)}};
  });
  rack.recover();
  EXPECT_EQ(rack.error, "");
  EXPECT_EQ(rack.stores.size(), 1U);

  Rack never;
  never.settings.clients = 2;
  never.copies[1] = {};
  never.recover();
  EXPECT_NE(never.error.find("in phase collect; it waits for 2 clients to connect"),
            std::string::npos);

  Rack leaving;
  leaving.copies[1] = {};
  leaving.leaving = {1};
  leaving.recover();
  EXPECT_NE(leaving.error.find("a client did not give all its copies: gone"), std::string::npos);
  EXPECT_TRUE(leaving.slots.empty());
}

TEST(Recovery, NumbersThatAreUsedUpAreAnError) {
  Rack rack;
  rack.store(value_record(key_number(0), 1, kLargestNumber - 65'536));
  rack.recover();
  EXPECT_EQ(rack.error, "");
  EXPECT_EQ(rack.number, kLargestNumber);

  Rack full;
  full.store(value_record(key_number(0), 1, kLargestNumber - 65'535));
  full.recover();
  EXPECT_NE(full.error.find("the largest number is 1073676288; with a margin of 65536 it exceeds"),
            std::string::npos);
  EXPECT_EQ(full.number, 0U);
}

TEST(Recovery, ARefusalIsTold) {
  Rack rack;
  rack.refusal = "6 records for the 5 slots of the cache";
  rack.recover();
  EXPECT_EQ(rack.error,
            "cache-controller recover: switch-agent refused RESTORE: 6 records for the 5 slots of "
            "the cache");
}

// Or the switch would serve with numbers that have been given before.
TEST(Recovery, OfASwitchThatIsKilledMeanwhileDoesNotEndInItsSuccessor) {
  Rack rack;
  rack.copies[1] = {{key_number(0), value_record(key_number(0), 1, 5)}};
  rack.is_killed_at_fetch = true;
  rack.recover();
  EXPECT_NE(rack.error.find("switch-agent refused RESTORE: it is for switch epoch 1, and this is "
                            "epoch 2"),
            std::string::npos)
      << rack.error;
  EXPECT_TRUE(rack.slots.empty());
  rack.recover();
  EXPECT_EQ(rack.error, "");
  EXPECT_EQ(rack.number, 5U + 65'536U);
}

TEST(Recovery, TheSnapshotOfItsOwnEpochIsNotRead) {
  Rack rack;
  rack.copies[1] = {{key_number(0), value_record(key_number(0), 1, 5)}};
  rack.recover();
  ASSERT_TRUE(rack.epoch.serves);
  rack.snapshot = {value_record(key_number(1), 1, 70)};
  rack.recover();
  EXPECT_EQ(rack.error, "");
  EXPECT_FALSE(rack.stores.contains(key_number(1)));
}

TEST(Recovery, RecordsOfAPartitionThatIsLeftOutAreAnError) {
  Rack rack;
  const Key key = key_number(0);
  rack.settings.partitions = {(partition_of(key) + 1) % kScale};
  rack.copies[1] = {{key, value_record(key, 1, 5)}};
  rack.recover();
  EXPECT_NE(rack.error.find("there are records of partition " + std::to_string(partition_of(key))),
            std::string::npos);
}

}  // namespace
}  // namespace turntable::cache
