#include "farreach/kv/store_library.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "farreach/kv/record_store.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/value.h"
#include "workload/trace.h"

namespace turntable::kv {
namespace {

namespace fs = std::filesystem;
using testing::small_spec;

constexpr unsigned kAll[] = {0, 1, 2, 3};

std::string code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const CommandError& error) {
    return error.code();
  }
  return "no error";
}

class StoreLibraryTest : public ::testing::Test {
 protected:
  fs::path digest_directory(const StoreSpec& spec) const {
    return directory_.path() / "stores" / digest_of(spec);
  }

  ScratchDirectory directory_;
};

TEST_F(StoreLibraryTest, HoldsExactlyTheKeysThatTheTracesTouch) {
  const StoreSpec spec = small_spec();
  std::map<unsigned, std::set<workload::KeyId>> expected;
  for (unsigned client = 0; client < 4; ++client) {
    for (const auto& operation : workload::generate_trace(spec.workload, client)) {
      expected[operation.slot / (32768 / 4)].insert(operation.key);
    }
  }
  StoreLibrary library(directory_.path());
  for (const auto& loaded : library.load(spec, kAll)) {
    EXPECT_EQ(loaded.keys, expected[loaded.partition].size());
    EXPECT_FALSE(loaded.reused);
    const auto copy = library.copy(spec, loaded.partition);
    Store store(copy->directory(), spec.profile);
    for (const auto& [partition, keys] : expected) {
      for (const workload::KeyId key : keys) {
        std::span<const std::uint8_t> value;
        const auto result = store.get(workload::store_key(key), value);
        if (partition != loaded.partition) {
          ASSERT_EQ(result, Store::Result::kNotFound);
          continue;
        }
        ASSERT_EQ(result, Store::Result::kOk);
        ASSERT_EQ(value.size(), 128u);
        ASSERT_TRUE(value_matches(value, key));
      }
    }
  }
}

TEST_F(StoreLibraryTest, InsertedKeysAreNotThereBefore) {
  StoreLibrary library(directory_.path());
  for (const auto& loaded : library.load(small_spec("workload-load"), kAll)) {
    EXPECT_EQ(loaded.keys, 0u);
  }
  const StoreSpec spec = small_spec("workloadd");
  library.load(spec, kAll);
  for (unsigned client = 0; client < 4; ++client) {
    for (const auto& operation : workload::generate_trace(spec.workload, client)) {
      if (operation.type != workload::OperationType::kPut) continue;
      const auto copy = library.copy(spec, operation.slot / (32768 / 4));
      Store store(copy->directory(), spec.profile);
      std::span<const std::uint8_t> value;
      EXPECT_EQ(store.get(workload::store_key(operation.key), value), Store::Result::kNotFound);
      break;  // opening a store for every key would take long
    }
  }
}

TEST_F(StoreLibraryTest, RecordedKeysHaveTheSizesThatTheirFirstRequestsSay) {
  const std::string lines =
      "user1,get,5\nuser1,put,9\nuser2,get,\nuser3,insert,7\nuser4,put,300\nuser3,get,7\n";
  StoreLibrary library(directory_.path());
  for (const bool numbered : {false, true}) {
    const StoreSpec spec{
        .workload = testing::recorded_workload(directory_.path() / "trace.csv", lines, 2),
        .scale = 1,
        .profile = StoreProfile::kEmbedded,
        .numbered = numbered};
    EXPECT_EQ(library.load(spec, std::array{0U}).front().keys, 3u);
    const auto copy = library.copy(spec, 0);
    Store store(copy->directory(), spec.profile);
    const std::size_t trailer = numbered ? kRecordTrailerBytes : 0;
    for (const auto& [key, bytes] :
         std::map<workload::KeyId, std::size_t>{{1, 5}, {2, 128}, {4, 300}}) {
      std::span<const std::uint8_t> value;
      ASSERT_EQ(store.get(workload::store_key(key), value), Store::Result::kOk) << key;
      EXPECT_EQ(value.size(), bytes + trailer) << key;
      EXPECT_TRUE(value_matches(value.first(bytes), key)) << key;
    }
    std::span<const std::uint8_t> value;
    EXPECT_EQ(store.get(workload::store_key(3), value), Store::Result::kNotFound);
  }
}

TEST_F(StoreLibraryTest, ALoadedStoreIsReusedAlsoByTheNextProcess) {
  const StoreSpec spec = small_spec();
  std::uint64_t keys = 0;
  {
    StoreLibrary library(directory_.path());
    keys = library.load(spec, std::array{2U}).front().keys;
  }
  StoreLibrary library(directory_.path());
  const auto again = library.load(spec, std::array{2U}).front();
  EXPECT_TRUE(again.reused);
  EXPECT_EQ(again.keys, keys);
  EXPECT_FALSE(library.load(small_spec("workloada", 2), std::array{2U}).front().reused);
}

TEST_F(StoreLibraryTest, AFreshCopyIsAnotherIncarnationAndOneThatWasLeftIsTheSame) {
  const StoreSpec spec = small_spec();
  std::uint32_t first = 0;
  {
    StoreLibrary library(directory_.path());
    library.load(spec, std::array{2U});
    const auto copy = library.copy(spec, 2);
    first = copy->incarnation();
    copy->leave();
  }
  EXPECT_NE(first, 0u);
  StoreLibrary library(directory_.path());
  EXPECT_EQ(library.left_copy(spec, 2)->incarnation(), first);
  EXPECT_NE(library.copy(spec, 2)->incarnation(), first);
}

TEST_F(StoreLibraryTest, AnInterruptedLoadIsNotReused) {
  const StoreSpec spec = small_spec();
  const fs::path partition = digest_directory(spec) / "p2";
  {
    StoreLibrary library(directory_.path());
    library.load(spec, std::array{2U});
  }
  fs::rename(partition / "base", partition / "base.tmp");  // as if it had died before the rename
  StoreLibrary library(directory_.path());
  EXPECT_FALSE(fs::exists(partition / "base.tmp"));
  EXPECT_EQ(code_of([&] { library.copy(spec, 2); }), "not_found");
  EXPECT_FALSE(library.load(spec, std::array{2U}).front().reused);
}

TEST_F(StoreLibraryTest, EveryCopyStartsFromTheLoadedState) {
  const StoreSpec spec = small_spec();
  StoreLibrary library(directory_.path());
  library.load(spec, std::array{2U});
  const workload::KeyBytes key = workload::store_key(12345);
  const std::uint8_t written[] = {1, 2, 3};
  std::span<const std::uint8_t> value;
  fs::path directory;
  {
    const auto copy = library.copy(spec, 2);
    directory = copy->directory();
    Store store(directory, spec.profile);
    ASSERT_EQ(store.put(key, written), Store::Result::kOk);
    ASSERT_EQ(store.get(key, value), Store::Result::kOk);
    EXPECT_TRUE(std::equal(value.begin(), value.end(), std::begin(written), std::end(written)));
  }
  EXPECT_FALSE(fs::exists(directory));
  const auto copy = library.copy(spec, 2);
  Store store(copy->directory(), spec.profile);
  EXPECT_EQ(store.get(key, value), Store::Result::kNotFound);
}

TEST_F(StoreLibraryTest, AWorkingCopyThatWasLeftIsThereForTheNextProcess) {
  const StoreSpec spec = small_spec();
  const workload::KeyBytes key = workload::store_key(12345);
  const fs::path work = digest_directory(spec) / "p2/work";
  {
    StoreLibrary library(directory_.path());
    library.load(spec, std::array{2U});
    const auto copy = library.copy(spec, 2);
    EXPECT_TRUE(copy->is_fresh());
    Store store(copy->directory(), spec.profile);
    ASSERT_EQ(store.put(key, std::array<std::uint8_t, 1>{7}), Store::Result::kOk);
    copy->leave();
  }
  StoreLibrary library(directory_.path());
  library.left_copy(spec, 2);  // not owned: it stays
  {
    const auto copy = library.left_copy(spec, 2);
    EXPECT_FALSE(copy->is_fresh());
    Store store(copy->directory(), spec.profile);
    std::span<const std::uint8_t> value;
    EXPECT_EQ(store.get(key, value), Store::Result::kOk);
    copy->own();
  }
  EXPECT_FALSE(fs::exists(work));
  EXPECT_EQ(code_of([&] { library.left_copy(spec, 2); }), "not_found");
  EXPECT_EQ(code_of([&] { library.left_copy(small_spec("workloada", 2), 2); }), "not_found");
}

TEST_F(StoreLibraryTest, WhatWasLeftIsRemovedFromAllStores) {
  const StoreSpec one = small_spec(), other = small_spec("workloadb");
  {
    StoreLibrary library(directory_.path());
    library.load(one, std::array{2U});
    library.load(other, std::array{1U});
    library.copy(one, 2)->leave();
    library.copy(other, 1)->leave();
  }
  StoreLibrary library(directory_.path());
  EXPECT_NO_THROW(library.require_left(one, 2));
  EXPECT_NO_THROW(library.require_left(other, 1));
  library.remove_left();
  EXPECT_EQ(code_of([&] { library.left_copy(one, 2); }), "not_found");
  EXPECT_EQ(code_of([&] { library.left_copy(other, 1); }), "not_found");
  EXPECT_TRUE(library.load(one, std::array{2U}).at(0).reused);
}

TEST_F(StoreLibraryTest, AnInterruptedCopyIsNotTakenForOneThatWasLeft) {
  const StoreSpec spec = small_spec();
  const fs::path partition = digest_directory(spec) / "p2";
  {
    StoreLibrary library(directory_.path());
    library.load(spec, std::array{2U});
    library.copy(spec, 2)->leave();
  }
  fs::rename(partition / "work", partition / "work.tmp");  // as if it had died before the rename
  StoreLibrary library(directory_.path());
  EXPECT_FALSE(fs::exists(partition / "work.tmp"));
  EXPECT_EQ(code_of([&] { library.left_copy(spec, 2); }), "not_found");
}

TEST_F(StoreLibraryTest, OldDigestsAreRemovedUnlessInUse) {
  StoreLibrary library(directory_.path());
  const StoreSpec used = small_spec("workloada", 100);
  library.load(used, std::array{2U});
  const auto copy = library.copy(used, 2);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    library.load(small_spec("workloada", seed), std::array{2U});
  }
  EXPECT_TRUE(fs::exists(digest_directory(used)));
  EXPECT_FALSE(fs::exists(digest_directory(small_spec("workloada", 1))));
  for (std::uint64_t seed = 2; seed <= 5; ++seed) {
    EXPECT_TRUE(fs::exists(digest_directory(small_spec("workloada", seed)))) << seed;
  }
}

TEST_F(StoreLibraryTest, OneProcessAtATime) {
  StoreLibrary library(directory_.path());
  EXPECT_EQ(code_of([&] { StoreLibrary second(directory_.path()); }), "unavailable");
}

TEST_F(StoreLibraryTest, AStateDirectoryThatIsAFileIsAClearError) {
  const fs::path file = directory_.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_EQ(code_of([&] { StoreLibrary library(file); }), "unavailable");
}

TEST_F(StoreLibraryTest, CancelEndsALoad) {
  StoreLibrary library(directory_.path());
  library.cancel();
  EXPECT_EQ(code_of([&] { library.load(small_spec(), kAll); }), "unavailable");
}

TEST(DigestTest, DependsOnEveryParameter) {
  std::set<std::string> digests;
  StoreSpec spec = small_spec();
  const auto add = [&] { return digests.insert(digest_of(spec)).second; };
  EXPECT_TRUE(add());
  EXPECT_FALSE(add());
  spec.scale = 8;
  EXPECT_TRUE(add());
  spec.profile = StoreProfile::kPaper;
  EXPECT_TRUE(add());
  ++spec.workload.round;
  EXPECT_TRUE(add());
  ++spec.workload.seed;
  EXPECT_TRUE(add());
  ++spec.workload.value_bytes;
  EXPECT_TRUE(add());
  ++spec.workload.operations;
  EXPECT_TRUE(add());
  spec.workload.theta = 0.9;
  EXPECT_TRUE(add());
}

}  // namespace
}  // namespace turntable::kv
