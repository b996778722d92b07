#include "kv/record_store.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "kv/store_library.h"
#include "kv/testing.h"
#include "kv/value.h"

namespace turntable::kv {
namespace {

constexpr workload::KeyId kLoaded = 10, kOther = 20;
using Bytes = std::vector<std::uint8_t>;

class RecordStoreTest : public ::testing::Test {
 protected:
  RecordStoreTest() {
    build_store(directory_.path() / "db", {.workload = testing::small_workload(), .numbered = true},
                std::array{kLoaded});
    open();
  }

  void open() {
    records_.reset();
    store_.reset();
    store_.emplace(directory_.path() / "db", StoreProfile::kEmbedded);
    records_.emplace(*store_);
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

  testing::TemporaryDirectory directory_;
  std::optional<Store> store_;
  std::optional<RecordStore> records_;

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
  EXPECT_FALSE(get(kOther));
}

TEST_F(RecordStoreTest, OnDiskARecordIsValueNumberAndStat) {
  put(kOther, 0x01020304, {0xaa, 0xbb});
  std::span<const std::uint8_t> stored;
  ASSERT_EQ(store_->get(workload::store_key(kOther), stored), Store::Result::kOk);
  EXPECT_EQ(Bytes(stored.begin(), stored.end()), (Bytes{0xaa, 0xbb, 1, 2, 3, 4, 1}));
  remove(kOther, 0x01020305);
  ASSERT_EQ(store_->get(workload::store_key(kOther), stored), Store::Result::kOk);
  EXPECT_EQ(Bytes(stored.begin(), stored.end()), (Bytes{1, 2, 3, 5, 0}));
}

TEST_F(RecordStoreTest, OnlyALargerNumberIsApplied) {
  EXPECT_FALSE(put(kLoaded, 0, {9}));  // the load's own number
  EXPECT_TRUE(put(kLoaded, 5, {1}));
  EXPECT_FALSE(put(kLoaded, 5, {2}));
  EXPECT_FALSE(put(kLoaded, 4, {3}));
  EXPECT_FALSE(remove(kLoaded, 4));
  EXPECT_EQ(value_of(*get(kLoaded)), Bytes{1});
  EXPECT_TRUE(put(kOther, 0, {4}));  // nothing is there: any number is newer
}

TEST_F(RecordStoreTest, ATombstoneHoldsOffOlderWritesAndSurvivesReopening) {
  EXPECT_TRUE(put(kOther, 5, {1}));
  EXPECT_TRUE(remove(kOther, 7));
  open();
  const auto record = get(kOther);
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->exists);
  EXPECT_EQ(record->number, 7u);
  EXPECT_TRUE(record->value.empty());
  EXPECT_FALSE(put(kOther, 6, {2}));
  EXPECT_TRUE(put(kOther, 8, {3}));
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
  remove(kOther, 9);
  ASSERT_EQ(records_->largest_number(number), Store::Result::kOk);
  EXPECT_EQ(number, 9u);
}

TEST_F(RecordStoreTest, APlainStoreIsNotMisreadAsOneWithNumbers) {
  // Only a value shorter than a number can be told from a record by itself: the digest does it.
  const StoreSpec plain = testing::small_spec();
  StoreSpec numbered = plain;
  numbered.numbered = true;
  EXPECT_NE(digest_of(plain), digest_of(numbered));
  ASSERT_EQ(store_->put(workload::store_key(kOther), Bytes{1, 2, 3, 4}), Store::Result::kOk);
  Record record;
  EXPECT_EQ(records_->get(workload::store_key(kOther), record), Store::Result::kError);
}

}  // namespace
}  // namespace turntable::kv
