#include "farreach/kv/record_store.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "farreach/kv/store_library.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/value.h"
#include "workload/random.h"

namespace turntable::kv {
namespace {

constexpr workload::KeyId kLoaded = 10, kOtherRecord = 20;
using Bytes = std::vector<std::uint8_t>;

class RecordStoreTest : public ::testing::Test {
 protected:
  RecordStoreTest() {
    build_store(directory_.path() / "db", {.workload = testing::small_workload(), .numbered = true},
                std::array{kLoaded});
    open();
  }

  void open(bool is_fresh = true) {
    records_.reset();
    store_.reset();
    store_.emplace(directory_.path() / "db", StoreProfile::kEmbedded);
    records_.emplace(*store_, is_fresh);
  }

  bool put(workload::KeyId key, std::uint32_t number, const Bytes& value, std::uint32_t token = 0) {
    return apply(key, {.value = value, .number = number, .exists = true}, token);
  }
  bool remove(workload::KeyId key, std::uint32_t number) {
    return apply(key, {.number = number, .exists = false}, 0);
  }

  // Empty if there is nothing at all.
  std::optional<Record> get(workload::KeyId key) {
    Record record;
    const auto result = records_->get(workload::store_key(key), record);
    EXPECT_NE(result, Store::Result::kError);
    return result == Store::Result::kOk ? std::optional(record) : std::nullopt;
  }

  static Bytes value_of(const Record& record) { return {record.value.begin(), record.value.end()}; }

  ScratchDirectory directory_;
  std::optional<Store> store_;
  std::optional<RecordStore> records_;

  // As the controller sends it.
  bool replay(workload::KeyId key, std::uint32_t number) {
    const auto applied = records_->apply_all(
        {{.key = workload::store_key(key), .record = {.number = number, .exists = false}}});
    EXPECT_EQ(applied.result, Store::Result::kOk);
    return applied.newer == 1;
  }

 private:
  bool apply(workload::KeyId key, const Record& record, std::uint32_t token) {
    const auto applied = records_->apply(workload::store_key(key), record, token);
    EXPECT_EQ(applied.result, Store::Result::kOk);
    return applied.newer;
  }
};

TEST_F(RecordStoreTest, LoadedRecordsHaveNumber0) {
  Bytes loaded(128);
  fill_value(loaded, kLoaded, kLoadedVersion);
  const auto record = get(kLoaded);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->number, 0u);
  EXPECT_TRUE(record->exists);
  EXPECT_EQ(value_of(*record), loaded);
  EXPECT_FALSE(get(kOtherRecord));
}

TEST_F(RecordStoreTest, OnDiskARecordIsValueNumberAndStat) {
  put(kOtherRecord, 0x01020304, {0xaa, 0xbb});
  std::span<const std::uint8_t> stored;
  ASSERT_EQ(store_->get(workload::store_key(kOtherRecord), stored), Store::Result::kOk);
  EXPECT_EQ(Bytes(stored.begin(), stored.end()), (Bytes{0xaa, 0xbb, 1, 2, 3, 4, 1}));
  remove(kOtherRecord, 0x01020305);
  ASSERT_EQ(store_->get(workload::store_key(kOtherRecord), stored), Store::Result::kOk);
  EXPECT_EQ(Bytes(stored.begin(), stored.end()), (Bytes{1, 2, 3, 5, 0}));
}

TEST_F(RecordStoreTest, OnlyALargerNumberIsApplied) {
  EXPECT_FALSE(put(kLoaded, 0, {9}));  // the load's own number
  EXPECT_TRUE(put(kLoaded, 5, {1}));
  EXPECT_FALSE(put(kLoaded, 5, {2}));
  EXPECT_FALSE(put(kLoaded, 4, {3}));
  EXPECT_FALSE(remove(kLoaded, 4));
  EXPECT_EQ(value_of(*get(kLoaded)), Bytes{1});
  EXPECT_TRUE(put(kOtherRecord, 0, {4}));  // nothing is there: any number is newer
}

TEST_F(RecordStoreTest, ATombstoneHoldsOffOlderWritesAndSurvivesReopening) {
  EXPECT_TRUE(put(kOtherRecord, 5, {1}));
  EXPECT_TRUE(remove(kOtherRecord, 7));
  open();
  const auto record = get(kOtherRecord);
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->exists);
  EXPECT_EQ(record->number, 7u);
  EXPECT_TRUE(record->value.empty());
  EXPECT_FALSE(put(kOtherRecord, 6, {2}));
  EXPECT_TRUE(put(kOtherRecord, 8, {3}));
}

TEST_F(RecordStoreTest, AWriteBehindTheSnapshotPointComesAfterTheSnapshot) {
  put(kLoaded, 1, {1});
  put(kLoaded, 2, {2}, /*token=*/7);  // the first that is told of snapshot 7
  put(kLoaded, 3, {3}, 7);
  ASSERT_EQ(records_->take_snapshot(7), Store::Result::kOk);  // has been taken
  const auto at = [&](std::uint32_t token) -> std::optional<std::uint32_t> {
    Bytes bytes;
    Record record;
    const auto result = records_->fetch_at(token, workload::store_key(kLoaded), bytes, record);
    return result == Store::Result::kOk ? std::optional(record.number) : std::nullopt;
  };
  EXPECT_EQ(at(7), 1u);
  EXPECT_EQ(at(8), std::nullopt);
  ASSERT_EQ(records_->take_snapshot(8), Store::Result::kOk);
  put(kLoaded, 4, {4}, 8);
  EXPECT_EQ(at(8), 3u);
  records_->release_snapshots(8);
  EXPECT_EQ(at(7), std::nullopt);
  EXPECT_EQ(at(8), 3u);
  EXPECT_EQ(get(kLoaded)->number, 4u);
}

TEST_F(RecordStoreTest, TheLargestNumberIsThatOfAnyRecord) {
  std::uint32_t number = 99;
  ASSERT_EQ(records_->largest_number(number), Store::Result::kOk);
  EXPECT_EQ(number, 0u);
  put(kLoaded, 5, {1});
  remove(kOtherRecord, 9);
  ASSERT_EQ(records_->largest_number(number), Store::Result::kOk);
  EXPECT_EQ(number, 9u);
}

TEST_F(RecordStoreTest, TheLargestNumberOfAStoreThatWasLeftIsReadFromIt) {
  put(kLoaded, 5, {1});
  put(kOtherRecord, 9, {1});
  open(/*is_fresh=*/false);
  put(kLoaded, 6, {1});
  std::uint32_t number = 0;
  ASSERT_EQ(records_->largest_number(number), Store::Result::kOk);
  EXPECT_EQ(number, 9u);
  put(kLoaded, 12, {1});
  ASSERT_EQ(records_->largest_number(number), Store::Result::kOk);
  EXPECT_EQ(number, 12u);
}

TEST_F(RecordStoreTest, OfManyRecordsEachIsAppliedIfItIsNewer) {
  struct Kept {
    std::uint32_t number;
    bool exists;
    Bytes value;
  };
  std::map<workload::KeyId, Kept> expected;
  workload::Random random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<Bytes> values(500);
    std::vector<RecordStore::Update> updates;
    std::set<workload::KeyId> newer;
    for (Bytes& value : values) {
      const workload::KeyId key = 100 + random.next() % 400;  // some twice in one call
      const auto number = static_cast<std::uint32_t>(random.next() % 1000);
      const bool exists = random.next() % 5 != 0;
      if (exists) value.assign(1 + random.next() % 20, static_cast<std::uint8_t>(random.next()));
      const auto [at, fresh] = expected.try_emplace(key, Kept{number, exists, value});
      if (fresh || number > at->second.number) {
        at->second = {number, exists, value};
        newer.insert(key);
      } else if (number == at->second.number && newer.contains(key)) {
        continue;  // two records with one number do not occur
      }
      updates.push_back({.key = workload::store_key(key),
                         .record = {.value = value, .number = number, .exists = exists}});
    }
    const auto applied = records_->apply_all(updates);
    ASSERT_EQ(applied.result, Store::Result::kOk);
    ASSERT_EQ(applied.newer, newer.size());
    ASSERT_EQ(records_->apply_all(updates).newer, 0u);
  }
  for (const auto& [key, kept] : expected) {
    const auto record = get(key);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->number, kept.number);
    EXPECT_EQ(record->exists, kept.exists);
    EXPECT_EQ(value_of(*record), kept.value);
  }
}

TEST_F(RecordStoreTest, TheWorkersWritesAndManyRecordsDoNotUndoEachOther) {
  constexpr std::uint32_t kRounds = 300;
  constexpr workload::KeyId kKeys = 50;
  std::thread worker([&] {  // even numbers, one key at a time
    for (std::uint32_t number = 2; number <= 2 * kRounds; number += 2) {
      for (workload::KeyId key = 0; key < kKeys; ++key) put(key, number, {1});
    }
  });
  for (std::uint32_t number = 1; number < 2 * kRounds; number += 2) {
    std::vector<RecordStore::Update> updates;
    for (workload::KeyId key = 0; key < kKeys; ++key) {
      updates.push_back({.key = workload::store_key(key), .record = {.number = number}});
    }
    EXPECT_EQ(records_->apply_all(updates).result, Store::Result::kOk);
  }
  worker.join();
  for (workload::KeyId key = 0; key < kKeys; ++key) EXPECT_EQ(get(key)->number, 2 * kRounds);
}

TEST_F(RecordStoreTest, APlainStoreIsNotMisreadAsOneWithNumbers) {
  // Only a value shorter than a number can be told from a record by itself: the digest does it.
  const StoreSpec plain = testing::small_spec();
  StoreSpec numbered = plain;
  numbered.numbered = true;
  EXPECT_NE(digest_of(plain), digest_of(numbered));
  ASSERT_EQ(store_->put(workload::store_key(kOtherRecord), Bytes{1, 2, 3, 4}), Store::Result::kOk);
  Record record;
  EXPECT_EQ(records_->get(workload::store_key(kOtherRecord), record), Store::Result::kError);
}

// A relayed STORE, or the REPLAY of a recovery that broke off, may come after the records of the
// cached set were read for the next switch.
TEST_F(RecordStoreTest, WhatAFenceExcludesIsAppliedOnNoPath) {
  put(kOtherRecord, 5, {5});
  ASSERT_EQ(records_->fence(20), Store::Result::kOk);
  ASSERT_EQ(records_->fence(10), Store::Result::kOk);  // said late
  EXPECT_FALSE(put(kOtherRecord, 20, {20}));
  EXPECT_FALSE(remove(kLoaded, 1));
  EXPECT_FALSE(replay(kOtherRecord, 19));
  EXPECT_FALSE(replay(kLoaded, 20));
  EXPECT_EQ(get(kOtherRecord)->number, 5u);
  EXPECT_EQ(get(kLoaded)->number, kLoadedNumber);
  EXPECT_TRUE(put(kOtherRecord, 21, {21}));
  EXPECT_TRUE(replay(kLoaded, 21));
}

// What a recovery has left out although it was newer than the store's is lost: the next one sees
// it.
TEST_F(RecordStoreTest, ReplayTellsWhatTheFenceKeepsOut) {
  put(kOtherRecord, 5, {5});
  ASSERT_EQ(records_->fence(20), Store::Result::kOk);
  const auto replay_all = [this](std::uint32_t number) {
    const Record record{.number = number, .exists = false};
    return records_->apply_all({{.key = workload::store_key(kOtherRecord), .record = record}});
  };
  EXPECT_EQ(replay_all(5).missed, 0u);
  EXPECT_EQ(replay_all(6).missed, 1u);
  EXPECT_EQ(replay_all(6).newer, 0u);
  EXPECT_EQ(replay_all(21).missed, 0u);
  EXPECT_EQ(get(kOtherRecord)->number, 21u);
}

TEST_F(RecordStoreTest, AFenceIsInTheStore) {
  put(kOtherRecord, 5, {5});
  ASSERT_EQ(records_->fence(20), Store::Result::kOk);
  open(/*is_fresh=*/false);
  EXPECT_FALSE(put(kOtherRecord, 20, {20}));
  EXPECT_TRUE(put(kOtherRecord, 21, {21}));
  // It is no record.
  ASSERT_EQ(records_->take_snapshot(7), Store::Result::kOk);
  std::size_t records = 0;
  const auto count = [&](const workload::KeyBytes&, const Record&) { ++records; };
  EXPECT_EQ(records_->for_each_at(7, count), Store::Result::kOk);
  EXPECT_EQ(records, 2u);
}

// The switch that the fence was set for may have given any number after it, and died unseen.
TEST_F(RecordStoreTest, AFenceIsTheLeastLargestNumber) {
  std::uint32_t number = 0;
  put(kOtherRecord, 5, {5});
  ASSERT_EQ(records_->fence(20), Store::Result::kOk);
  ASSERT_EQ(records_->largest_number(number), Store::Result::kOk);
  EXPECT_EQ(number, 20u);
  open(/*is_fresh=*/false);
  ASSERT_EQ(records_->largest_number(number), Store::Result::kOk);
  EXPECT_EQ(number, 20u);
  put(kOtherRecord, 22, {22});
  ASSERT_EQ(records_->largest_number(number), Store::Result::kOk);
  EXPECT_EQ(number, 22u);
}

}  // namespace
}  // namespace turntable::kv
