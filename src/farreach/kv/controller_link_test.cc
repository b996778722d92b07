// kvserver's answers to a controller that the test plays, over loopback.
#include "farreach/kv/controller_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "common/deadline.h"
#include "farreach/cache/server_hello.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/testing_controller.h"
#include "farreach/kv/testing_keys.h"
#include "farreach/kv/value.h"

namespace turntable::kv {
namespace {

using testing::kKey;
using testing::kPartition;

using cache::Message;
using cache::MessageType;
using Kind = cache::Record::Kind;
using Numbers = std::vector<std::uint32_t>;

// Key number 0 of YCSB, of another partition.
constexpr workload::KeyId kElsewhere = 6284781860667377211;
constexpr std::uint32_t kStore = 4711, kOtherStore = 4712;

class ControllerLinkTest : public ::testing::Test {
 protected:
  explicit ControllerLinkTest(const CachedKeys::Settings& settings = {})
      : keys_(settings, [this] { link_->wake(); }) {
    build_store(directory_.path() / "db", {.workload = testing::small_workload(), .numbered = true},
                std::array{kKey});
    store_.emplace(directory_.path() / "db", StoreProfile::kEmbedded);
    records_.emplace(*store_);
    link_.emplace(controller_.address(), net::testing::credentials(), 16);
    link_->start({{kPartition, kStore, &*records_, &keys_}});
  }
  ~ControllerLinkTest() override { link_->stop(); }

  Message ask(MessageType type, Numbers numbers = {}, std::vector<cache::Record> records = {}) {
    return controller_.ask(type, std::move(numbers), std::move(records));
  }
  Message ask(const Message& request) { return controller_.ask(request); }
  Message asked(std::size_t index) { return controller_.asked(index); }

  static cache::Record key(workload::KeyId id) { return cache::key_only(workload::wire_key(id)); }
  static cache::Record value(std::uint32_t number, std::vector<std::uint8_t> bytes) {
    cache::Record record = key(kKey);
    record.kind = Kind::kValue;
    record.number = number;
    record.value = std::move(bytes);
    return record;
  }
  static cache::Record tombstone(std::uint32_t number) {
    cache::Record record = key(kKey);
    record.kind = Kind::kDeleted;
    record.number = number;
    return record;
  }

  cache::Record fetched(std::uint32_t mark = 0) {
    const Message answer = ask(MessageType::kFetch, {mark}, {key(kKey)});
    EXPECT_EQ(answer.records.size(), 1u);
    return answer.records.empty() ? cache::Record{} : answer.records.front();
  }

  testing::PlayedController controller_;
  ScratchDirectory directory_;
  std::optional<Store> store_;
  std::optional<RecordStore> records_;
  std::optional<ControllerLink> link_;
  CachedKeys keys_;
};

// NetCache's.
class HoldingLinkTest : public ControllerLinkTest {
 protected:
  static constexpr bool kAsCached = true, kAsUncached = false;

  HoldingLinkTest() : ControllerLinkTest({.holds_writes = true, .is_controlled = true}) {}

  bool lets_in(bool as_cached, std::uint32_t number = 10) {
    const bool is_in = keys_.enter(kKey, number, as_cached);
    if (is_in) keys_.leave();
    return is_in;
  }
  bool eventually_lets_in(bool as_cached) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (!lets_in(as_cached) && !deadline.passed()) std::this_thread::yield();
    return lets_in(as_cached);
  }
  // SETTLED, EVICTED.
  Message tell(MessageType type, std::uint32_t admission, std::uint32_t number = 0) {
    Message told = cache::request(type);
    cache::append_cached({{workload::wire_key(kKey), {admission, number}}}, told);
    return ask(told);
  }
};

TEST_F(ControllerLinkTest, HelloSaysWhatIsServed) {
  EXPECT_EQ(controller_.hello().numbers,
            (Numbers{cache::kMessagesVersion, 16, 0, kPartition, kStore}));
}

TEST_F(HoldingLinkTest, HelloSaysThatWritesWait) {
  EXPECT_EQ(controller_.hello().numbers,
            (Numbers{cache::kMessagesVersion, 16, 1, kPartition, kStore}));
}

TEST_F(ControllerLinkTest, WhatIsForAnotherStoreIsRefused) {
  Message replay = cache::request(MessageType::kReplay, {}, {value(5, {5})});
  replay.store = kOtherStore;
  EXPECT_NE(ask(replay).text.find("a store that is not here"), std::string::npos);
  Message fence = cache::request(MessageType::kFence, {100, kPartition});
  fence.store = kOtherStore;
  EXPECT_NE(ask(fence).text, "");
  EXPECT_EQ(link_->statistics().at("refused"), 2);
  EXPECT_EQ(fetched().number, 0u);
  EXPECT_TRUE(records_->apply(workload::store_key(kKey), {.number = 6, .exists = false}).newer);
  replay.store = kStore;
  EXPECT_EQ(ask(replay).numbers, (Numbers{0, 0}));
}

TEST_F(ControllerLinkTest, FetchAnswersTheRecordsOfTheStore) {
  std::vector<std::uint8_t> loaded(128);
  fill_value(loaded, kKey, kLoadedVersion);
  EXPECT_EQ(fetched(), value(0, loaded));
  const auto stored = workload::store_key(kKey);
  records_->apply(stored, {.number = 5, .exists = false});
  EXPECT_EQ(fetched(), tombstone(5));
  const std::vector<std::uint8_t> large(129);
  records_->apply(stored, {.value = large, .number = 6, .exists = true});
  EXPECT_EQ(fetched().kind, Kind::kLarge);
  EXPECT_EQ(fetched().number, 6u);
}

TEST_F(ControllerLinkTest, StoreAppliesWhatIsNewerAndReplayCountsIt) {
  ask(MessageType::kStore, {}, {value(5, {5})});
  ask(MessageType::kStore, {}, {value(4, {4})});
  EXPECT_EQ(fetched(), value(5, {5}));
  ask(MessageType::kStore, {}, {tombstone(6)});
  EXPECT_EQ(fetched(), tombstone(6));
  EXPECT_EQ(ask(MessageType::kReplay, {}, {value(6, {6}), value(7, {7}), value(3, {3})}).numbers,
            (Numbers{1, 0}));
  EXPECT_EQ(ask(MessageType::kMaxNumber, {kPartition}).numbers, Numbers{7});
  EXPECT_NE(ask(MessageType::kMaxNumber, {kPartition + 1}).text.find("is not served here"),
            std::string::npos);
}

TEST_F(ControllerLinkTest, AFenceExcludesWhateverComesLate) {
  const auto write = [&](std::uint32_t number) {
    return records_->apply(workload::store_key(kKey), {.number = number, .exists = false});
  };
  EXPECT_TRUE(write(5).newer);
  EXPECT_EQ(ask(MessageType::kFence, {100, kPartition}).text, "");
  EXPECT_EQ(ask(MessageType::kFence, {50, kPartition}).text, "");  // said late
  EXPECT_TRUE(write(100).fenced);
  EXPECT_EQ(fetched(), tombstone(5));
  EXPECT_EQ(ask(MessageType::kReplay, {}, {value(99, {9})}).numbers, (Numbers{0, 1}));
  EXPECT_EQ(ask(MessageType::kStore, {}, {value(100, {9})}).text, "");  // done: it is old
  EXPECT_EQ(fetched(), tombstone(5));
  EXPECT_EQ(ask(MessageType::kMaxNumber, {kPartition}).numbers, Numbers{100});
  EXPECT_TRUE(write(101).newer);
  EXPECT_NE(ask(MessageType::kFence, {100}).text, "");
}

TEST_F(ControllerLinkTest, AnEvictedKeyMayBecomeHotAgain) {
  controller_.hello();
  keys_.report(kKey);
  controller_.send(cache::answer_to(asked(0), {3}, {key(kKey)}));  // cached
  ask(MessageType::kMaxNumber);
  keys_.report(kKey);
  EXPECT_TRUE(keys_.take_reports(1).empty());
  cache::Record odd = key(kKey);
  odd.key[0] = 1;
  ask(MessageType::kEvicted, {2}, {key(kKey)});  // said again: of an earlier admission
  keys_.report(kKey);
  EXPECT_TRUE(keys_.take_reports(1).empty());
  const Message answer = ask(MessageType::kEvicted, {3, 3, 3}, {key(kElsewhere), odd, key(kKey)});
  EXPECT_EQ(answer.text, "");
  EXPECT_TRUE(answer.numbers.empty());
  EXPECT_EQ(link_->statistics().at("unknown_keys"), 2);
  keys_.report(kKey);
  EXPECT_EQ(asked(1).records.at(0).key, workload::wire_key(kKey));
}

TEST_F(ControllerLinkTest, OfARecordThatIsNotServedHereNothingOfItsMessageIsApplied) {
  cache::Record elsewhere = value(5, {5});
  elsewhere.key = workload::wire_key(kElsewhere);
  EXPECT_NE(ask(MessageType::kReplay, {}, {value(5, {5}), elsewhere}).text, "");
  EXPECT_EQ(fetched().number, 0u);
}

TEST_F(ControllerLinkTest, SnapshotsAreTakenAndReleased) {
  ask(MessageType::kStart, {3});
  records_->apply(workload::store_key(kKey), {.number = 5, .exists = false});
  const auto at = [&] {
    std::vector<std::uint8_t> bytes;
    Record record;
    return records_->fetch_at(3, workload::store_key(kKey), bytes, record);
  };
  EXPECT_EQ(at(), Store::Result::kOk);
  ask(MessageType::kRelease, {4});
  EXPECT_EQ(at(), Store::Result::kNotFound);
}

// A record that is evicted during a snapshot may have been written after its point.
TEST_F(ControllerLinkTest, ARecordWithATokenIsStoredBehindThatSnapshot) {
  ask(MessageType::kStore, {}, {value(5, {5})});
  ask(MessageType::kStore, {9}, {value(6, {6})});
  ask(MessageType::kStart, {9});
  std::vector<std::uint8_t> bytes;
  Record record;
  ASSERT_EQ(records_->fetch_at(9, workload::store_key(kKey), bytes, record), Store::Result::kOk);
  EXPECT_EQ(record.number, 5u);
  EXPECT_EQ(fetched(), value(6, {6}));
}

TEST_F(ControllerLinkTest, StartGivesUpSnapshotsOtherThanTheLastCompleteOne) {
  ask(MessageType::kStart, {1});
  ask(MessageType::kStart, {2, 1});  // given up
  ask(MessageType::kStart, {3, 1});
  const auto is_there = [&](std::uint32_t token) {
    return records_->for_each_at(token, [](const auto&, const Record&) {}) == Store::Result::kOk;
  };
  EXPECT_TRUE(is_there(1));
  EXPECT_FALSE(is_there(2));
  EXPECT_TRUE(is_there(3));
}

TEST_F(ControllerLinkTest, WhatCannotBeDoneIsAFailureAndEndsNothing) {
  EXPECT_NE(ask(MessageType::kFetch, {0}, {key(kElsewhere)}).text.find("not served"),
            std::string::npos);
  EXPECT_NE(ask(MessageType::kFetch).text, "");
  EXPECT_NE(ask(MessageType::kSettled, {}, {key(kKey)}).text, "");
  EXPECT_NE(ask(MessageType::kBegin, {1}).text, "");
  cache::Record odd = key(kKey);
  odd.key[0] = 1;
  EXPECT_NE(ask(MessageType::kStore, {}, {odd}).text, "");
  EXPECT_EQ(fetched().number, 0u);
}

TEST_F(ControllerLinkTest, HotKeysAreReportedWithTheirRecordAlsoToTheNextController) {
  controller_.hello();
  keys_.report(kKey);
  const Message first = asked(0);
  EXPECT_EQ(first.type, MessageType::kHot);
  ASSERT_EQ(first.records.size(), 1u);
  EXPECT_EQ(first.records[0].key, workload::wire_key(kKey));
  EXPECT_EQ(first.records[0].kind, Kind::kValue);
  controller_.restart();  // that controller has died without an answer
  const Message again = asked(1);
  EXPECT_EQ(again.records, first.records);
  controller_.send(cache::answer_to(again, {0}, {key(kKey)}));  // refused
  ask(MessageType::kMaxNumber);                                 // so the answer has been read
  keys_.report(kKey);
  controller_.send(cache::answer_to(asked(2), {7}, {key(kKey)}));  // cached
  ask(MessageType::kMaxNumber);
  keys_.report(kKey);
  EXPECT_TRUE(keys_.take_reports(1).empty());
  controller_.restart();  // the switch may have been emptied
  ask(MessageType::kMaxNumber);
  keys_.report(kKey);
  EXPECT_EQ(asked(3).type, MessageType::kHot);
}

TEST_F(HoldingLinkTest, AMarkedKeyIsHeldBackUntilItIsSettledAndEvictedWhenAWriteNeedsIt) {
  EXPECT_EQ(fetched(/*mark=*/1).number, 0u);
  EXPECT_FALSE(lets_in(kAsUncached));
  tell(MessageType::kSettled, 5);
  EXPECT_FALSE(lets_in(kAsUncached));
  EXPECT_EQ(asked(0).type, MessageType::kEvict);
  controller_.send(cache::failure_of(asked(0), "not now"));
  const Message again = asked(1);  // there is no other way in
  EXPECT_FALSE(lets_in(kAsUncached));
  controller_.send(cache::answer_to(again));
  ask(MessageType::kMaxNumber);
  EXPECT_TRUE(lets_in(kAsUncached));
  EXPECT_EQ(link_->statistics().at("evictions_asked"), 1);
}

TEST_F(HoldingLinkTest, AnEvictedKeyIsOpenWithoutAQuestion) {
  EXPECT_EQ(fetched(/*mark=*/1).number, 0u);
  tell(MessageType::kSettled, 5);
  tell(MessageType::kEvicted, 4);  // said again after a connection broke
  tell(MessageType::kEvicted, 5);
  EXPECT_TRUE(lets_in(kAsUncached));
  tell(MessageType::kSettled, 5);  // the same
  EXPECT_TRUE(lets_in(kAsUncached));
  EXPECT_EQ(link_->statistics().at("evictions_asked"), 0);
}

TEST_F(HoldingLinkTest, ARecordThatCannotBeReadLeavesNoMark) {
  store_->put(workload::store_key(kKey), std::array<std::uint8_t, 2>{});  // no record
  EXPECT_NE(ask(MessageType::kFetch, {1}, {key(kKey)}).text.find("the store failed"),
            std::string::npos);
  EXPECT_TRUE(lets_in(kAsUncached));
}

// The next controller tells what has become of an admission that its predecessor had begun.
TEST_F(HoldingLinkTest, MarksOfAControllerThatDiedEndWithTheNextOne) {
  EXPECT_EQ(fetched(/*mark=*/1).number, 0u);
  EXPECT_FALSE(lets_in(kAsCached));
  Message cached = cache::request(MessageType::kSlots, {cache::kMessagesVersion});
  cache::append_cached({{workload::wire_key(kKey), {.id = 6}}}, cached);
  controller_.answer_hello(cached.numbers, cached.records);
  controller_.restart();
  EXPECT_TRUE(eventually_lets_in(kAsCached));
  EXPECT_FALSE(lets_in(kAsUncached));
  EXPECT_EQ(asked(0).type, MessageType::kEvict);
  controller_.send(cache::answer_to(asked(0)));
  ask(MessageType::kMaxNumber);
  EXPECT_TRUE(lets_in(kAsUncached));
  // Another one finds that it is not there.
  EXPECT_EQ(fetched(/*mark=*/1).number, 0u);
  controller_.answer_hello({cache::kMessagesVersion}, {});
  controller_.restart();
  EXPECT_TRUE(eventually_lets_in(kAsUncached));
  EXPECT_EQ(link_->statistics().at("evictions_asked"), 1);
}

// Says how fast that was; docs/kvcache.md §9.
TEST(ReplayTest, TenThousandRecordsGoToFourPartitions) {
  constexpr unsigned kScale = 4;
  constexpr std::size_t kRecords = 10'000, kBatch = 1000;
  std::array<std::vector<cache::Record>, kScale> records;
  std::array<std::vector<workload::KeyId>, kScale> keys;
  for (std::size_t i = 0; i < kRecords; ++i) {
    const workload::KeyId id = workload::key_id(i);
    const unsigned partition = workload::partition_of(workload::slot_of(id), kScale);
    keys[partition].push_back(id);
    records[partition].push_back({.key = workload::wire_key(id),
                                  .kind = Kind::kValue,
                                  .number = static_cast<std::uint32_t>(i + 1),
                                  .value = std::vector<std::uint8_t>(128)});
    fill_value(records[partition].back().value, id, i);
  }
  testing::PlayedController controller;
  ScratchDirectory directory;
  std::vector<std::unique_ptr<Store>> stores;
  std::vector<std::unique_ptr<RecordStore>> served;
  std::vector<std::unique_ptr<CachedKeys>> keys_of_servers;
  std::vector<ControllerLink::Server> servers;
  for (unsigned partition = 0; partition < kScale; ++partition) {
    const auto path = directory.path() / std::to_string(partition);
    std::sort(keys[partition].begin(), keys[partition].end());
    build_store(path, {.workload = testing::small_workload(), .numbered = true}, keys[partition]);
    stores.push_back(std::make_unique<Store>(path, StoreProfile::kEmbedded));
    served.push_back(std::make_unique<RecordStore>(*stores.back()));
    keys_of_servers.push_back(std::make_unique<CachedKeys>(CachedKeys::Settings{}));
    servers.push_back(
        {partition, partition + 1, served.back().get(), keys_of_servers.back().get()});
  }
  ControllerLink link(controller.address(), net::testing::credentials(), kScale);
  link.start(servers);
  controller.hello();
  std::size_t newer = 0;
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t begin_cpu = std::clock();
  for (const auto& of_partition : records) {
    for (std::size_t at = 0; at < of_partition.size(); at += kBatch) {
      const auto first = of_partition.begin() + static_cast<std::ptrdiff_t>(at);
      const auto count = std::min(kBatch, of_partition.size() - at);
      const Message answer = controller.ask(MessageType::kReplay, {},
                                            {first, first + static_cast<std::ptrdiff_t>(count)});
      ASSERT_EQ(answer.text, "");
      newer += answer.numbers.at(0);
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double cpu = static_cast<double>(std::clock() - begin_cpu) / CLOCKS_PER_SEC;
  std::printf("%zu records replayed in %.1f ms (%.1f ms of processors, the controller's too)\n",
              newer, took.count() * 1e3, cpu * 1e3);
  EXPECT_EQ(newer, kRecords);
  std::uint32_t largest = 0;
  for (unsigned partition = 0; partition < kScale; ++partition) {
    const Message answer = controller.ask(MessageType::kMaxNumber, {partition});
    largest = std::max(largest, answer.numbers.at(0));
  }
  EXPECT_EQ(largest, kRecords);
  for (unsigned partition = 0; partition < kScale; ++partition) {
    for (const cache::Record& record : records[partition]) {
      Record stored;
      const auto id = *workload::key_id_from_wire(record.key);
      ASSERT_EQ(served[partition]->get(workload::store_key(id), stored), Store::Result::kOk);
      ASSERT_EQ(stored.number, record.number);
      ASSERT_TRUE(std::equal(stored.value.begin(), stored.value.end(), record.value.begin(),
                             record.value.end()));
    }
  }
  link.stop();
}

}  // namespace
}  // namespace turntable::kv
