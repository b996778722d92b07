// A range of keys moves from one store to another: what the scan of one gives, and what the other
// makes of it while it is used.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/deadline.h"
#include "common/scratch_directory.h"
#include "hybridlog/checkpoint_file.h"
#include "hybridlog/log_scan.h"
#include "hybridlog/testing_client.h"

namespace turntable::hybridlog {
namespace {

using testing::Client;
using testing::settled;

constexpr HashRange kAllHashes{}, kLowerHashes{0, UINT64_MAX / 2},
    kUpper{UINT64_MAX / 2 + 1, UINT64_MAX};

class MoveTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> store(const char* name) {
    const StoreSettings settings = {.index_buckets = 64,
                                    .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
                                    .threads = 8,
                                    .reader_threads = 2};
    return std::make_unique<Store>(settings, open_file(directory_.path() / name));
  }

  // The keys' values by the scan; of a deleted key: nothing.
  static std::map<std::uint64_t, std::uint64_t> scanned(Store& of, HashRange range) {
    std::map<std::uint64_t, std::uint64_t> values;
    std::map<std::uint64_t, bool> seen;
    LogScan scan(of, range, of.log().tail());
    std::vector<ScannedRecord> records;
    while (scan.next_page(records)) {
      for (const ScannedRecord& record : records) {
        if (!seen.emplace(record.key, true).second) continue;
        if (!record.is_tombstone) values[record.key] = number_of(record.value);
      }
    }
    return values;
  }

  // No client lives meanwhile.
  static Address await_all(Store& store, HashRange range = kAllHashes) {
    const Address from = store.checkpoint().end;
    store.awaited().begin(range, from);
    return from;
  }

  static Session::Answer read(Client& client, std::uint64_t key) {
    return settled(client, client.read(key));
  }
  static void take(Client& client, std::uint64_t key, std::uint64_t value, bool dead = false) {
    EXPECT_EQ(settled(client, {client.take(key, bytes_of(value), dead)}).status, Status::kOk);
  }

  ScratchDirectory directory_;
};

constexpr std::uint64_t kMoved = 2000;  // of 24 bytes, in memory of 16 KiB

TEST_F(MoveTest, AScanHasEveryKeyAndItsNewestValueFirst) {
  const auto from = store("log");
  std::map<std::uint64_t, std::uint64_t> lower, upper;
  {
    Client client(*from);
    for (std::uint64_t round = 1; round <= 3; ++round)
      for (std::uint64_t key = 0; key < kMoved; ++key) client.upsert(key, key + round);
    for (std::uint64_t key = 0; key < kMoved; key += 10) client.erase(key);
  }
  for (std::uint64_t key = 0; key < kMoved; ++key) {
    if (key % 10 == 0) continue;
    (kLowerHashes.contains(hash_of(key)) ? lower : upper)[key] = key + 3;
  }
  EXPECT_GT(from->log().head(), kFirstAddress);
  EXPECT_EQ(scanned(*from, kLowerHashes), lower);
  EXPECT_EQ(scanned(*from, kUpper), upper);
  EXPECT_EQ(lower.size() + upper.size(), kMoved - kMoved / 10);
}

TEST_F(MoveTest, ReadsAndAdditionsWaitForTheirRecords) {
  const auto to = store("log");
  await_all(*to);
  Client receiver(*to), client(*to);
  EXPECT_EQ(client.read(1, 11).status, Status::kPending);
  EXPECT_EQ(client.add(1, 5, 12), Status::kPending);
  EXPECT_EQ(client.add(2, 7, 13), Status::kPending);
  EXPECT_EQ(client.complete_pending([](std::uint64_t, Session::Answer) { FAIL(); }), 3U);
  take(receiver, 1, 100);
  std::map<std::uint64_t, Session::Answer> told;
  EXPECT_EQ(client.complete_pending(
                [&](std::uint64_t context, Session::Answer answer) { told[context] = answer; }),
            1U);
  EXPECT_EQ(told.at(11).value, 100U);
  EXPECT_EQ(read(client, 1).value, 105U);
  // Once all have come a key that has not is one that is not there.
  to->awaited().end();
  EXPECT_EQ(client.complete_pending([](std::uint64_t, Session::Answer) {}), 0U);
  EXPECT_EQ(read(client, 2).value, 7U);
  EXPECT_EQ(read(client, 3).status, Status::kNotFound);
}

TEST_F(MoveTest, WhatWasWrittenMeanwhileIsNewerThanWhatComes) {
  const auto to = store("log");
  await_all(*to);
  Client receiver(*to), client(*to);
  EXPECT_EQ(client.upsert(1, 10), Status::kOk);
  EXPECT_EQ(client.erase(2), Status::kOk);
  EXPECT_EQ(read(client, 2).status, Status::kNotFound);
  take(receiver, 1, 100);
  take(receiver, 2, 200);
  take(receiver, 3, 300, /*dead=*/true);
  EXPECT_EQ(read(client, 1).value, 10U);
  EXPECT_EQ(read(client, 2).status, Status::kNotFound);
  EXPECT_EQ(read(client, 3).status, Status::kNotFound);
}

// Sent once more after a crash: nothing changes, also where the first records lie on the device.
TEST_F(MoveTest, TakingASecondTimeChangesNothing) {
  const auto to = store("log");
  await_all(*to);
  Client receiver(*to);
  for (std::uint64_t key = 0; key < kMoved; ++key) take(receiver, key, key);
  for (std::uint64_t key = 0; key < kMoved; ++key)
    EXPECT_EQ(settled(receiver, {receiver.add(key, 1)}).status, Status::kOk);
  for (std::uint64_t key = 0; key < kMoved; ++key) take(receiver, key, key);
  for (std::uint64_t key = 0; key < kMoved; ++key) ASSERT_EQ(read(receiver, key).value, key + 1);
}

// The range was here before, and has come back since: its records of then count for nothing, in
// memory and on the device.
TEST_F(MoveTest, WhatAStoreHadOfAnEarlierTimeDoesNotCount) {
  const auto to = store("log");
  {
    Client client(*to);
    for (std::uint64_t key = 0; key < kMoved; ++key) client.upsert(key, 1);
  }
  await_all(*to, kLowerHashes);
  Client receiver(*to), client(*to);
  for (std::uint64_t key = 0; key < kMoved; ++key) {
    const bool moves = kLowerHashes.contains(hash_of(key));
    if (!moves) {
      ASSERT_EQ(read(client, key).value, 1U);
      continue;
    }
    ASSERT_EQ(client.add(key, 5, key), Status::kPending);
    take(receiver, key, 100);
    while (client.complete_pending([](std::uint64_t, Session::Answer) {}) > 0)
      std::this_thread::yield();
    ASSERT_EQ(read(client, key).value, 105U) << key;
  }
}

// Headers have 12 bits of a version: of 4,096 versions ago they are those of now.
TEST_F(MoveTest, WhatAStoreHadOfAnEarlierTimeDoesNotCountAfterAllVersionsEither) {
  constexpr int kApart = 4096;
  const std::vector<std::byte> longer(40, std::byte{1});
  const auto to = store("log");
  {
    Client client(*to);
    client.upsert(1, 10);
    client.upsert_value(2, longer);
  }
  const std::uint64_t written = to->versions().version();
  for (int n = 1; n < kApart; ++n) to->versions().cut([&] { return to->log().tail(); });
  await_all(*to);
  ASSERT_EQ(to->versions().version(), written + kApart);
  Client client(*to, {}, testing::Places::kAlways);
  EXPECT_EQ(client.read(1).status, Status::kPending);
  EXPECT_EQ(client.read_value(2).status, Status::kPending);
  EXPECT_EQ(client.add(1, 5), Status::kPending);
  to->awaited().end();
}

TEST_F(MoveTest, AnAdditionOfASessionThatHasEndedIsLeft) {
  const auto to = store("log");
  await_all(*to);
  {
    Client client(*to);
    EXPECT_EQ(client.add(1, 5), Status::kPending);
    EXPECT_EQ(client.read(1).status, Status::kPending);
  }
  const auto left = to->awaited().end();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].key, 1U);
  EXPECT_EQ(left[0].delta, 5U);
  EXPECT_TRUE(to->awaited().end().empty());
  EXPECT_FALSE(to->awaited().leave({1, 5}));
}

// The checkpoint counts it, and whoever recovers that makes it when the records have come.
TEST_F(MoveTest, ACheckpointHasTheAdditionsThatAreLeft) {
  constexpr SessionId kSession{1, 2};
  const std::vector<std::byte> longer(40, std::byte{3});
  const std::string file = directory_.path() / "checkpoint.json";
  const std::vector<Awaited::Addition> expected = {{1, 5}, {2, number_of(longer), longer}};
  {
    const auto to = store("log");
    await_all(*to);
    {
      Client client(*to, kSession);
      EXPECT_EQ(client.add(1, 5), Status::kPending);
      EXPECT_EQ(client.add_to_value(2, longer), Status::kPending);
    }
    write_checkpoint(file, to->checkpoint());
    {
      Client client(*to, kSession);
      EXPECT_EQ(client.add(3, 7), Status::kPending);  // no checkpoint has it
    }
  }
  const Checkpoint made = read_checkpoint(file).value();
  EXPECT_EQ(made.serials.at(kSession), 2U);
  EXPECT_EQ(made.left, expected);
  Store again({.index_buckets = 64,
               .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
               .threads = 8,
               .reader_threads = 2},
              open_file(directory_.path() / "log"), made);
  EXPECT_EQ(again.checkpoint().left, expected);  // it is not lost before they are awaited again
  again.awaited().begin(kAllHashes, made.end);
  EXPECT_EQ(again.awaited().end(), expected);
  EXPECT_TRUE(again.checkpoint().left.empty());
}

// A checkpoint's file would grow as long as clients come and go.
TEST_F(MoveTest, ManyAdditionsThatAreLeftAreWaitedFor) {
  const auto to = store("log");
  to->awaited().give_up_after(std::chrono::nanoseconds(0));
  await_all(*to);
  EXPECT_TRUE(to->awaited().nobody_waits());
  const std::vector<std::byte> longest(Awaited::kMostLeftBytes);
  ASSERT_TRUE(to->awaited().leave({1, 0, longest}));
  EXPECT_FALSE(to->awaited().nobody_waits());
  to->awaited().end();
  to->awaited().begin(kAllHashes, to->log().tail());
  EXPECT_TRUE(to->awaited().nobody_waits());
  to->awaited().end();
}

// One that was begun while the cut was prepared: the records may not come before it ends.
TEST_F(MoveTest, AnOperationThatWaitsForRecordsHoldsUpNoCut) {
  const auto to = store("log");
  await_all(*to);
  std::atomic<bool> adds{false}, is_pending{false}, is_made{false};
  Client other(*to);
  const std::jthread checkpointer([&] {
    to->checkpoint();
    is_made = true;
  });
  std::jthread waits([&] {
    Client client(*to);
    while (to->versions().phase() == Versions::Phase::kRest) std::this_thread::yield();
    client.take_part();
    adds = true;
    EXPECT_EQ(client.add(1, 5), Status::kPending);
    is_pending = true;
    while (!is_made) client.complete_pending([](std::uint64_t, Session::Answer) {});
  });
  const Deadline deadline = Deadline::after_seconds(30);
  while (!adds) other.refresh();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // more likely within its operation
  while (!is_made && !deadline.passed()) {
    other.take_part();
    other.refresh();
  }
  EXPECT_TRUE(is_pending);
  EXPECT_TRUE(is_made);
  to->awaited().end();
  while (!is_made) {
    other.take_part();
    other.refresh();
  }
}

// A cut says when nobody has crossed, and when all have; a session in a batch does not cross.
TEST_F(MoveTest, ABatchIsOfOneVersion) {
  const auto made = store("log");
  std::atomic<int> step{0};
  std::jthread checkpointer;
  {
    Client client(*made);
    {
      const Session::Batch batch(client);
      checkpointer = std::jthread([&] {
        made->checkpoint({.all_prepared = [&] { step = 1; }, .all_crossed = [&] { step = 2; }});
      });
      while (step < 1) client.upsert(1, 1);
      for (std::uint64_t key = 0; key < 1000; ++key) client.upsert(key, 1);
      EXPECT_EQ(step, 1);
    }
    while (step < 2) client.take_part();
  }
  checkpointer.join();
}

}  // namespace
}  // namespace turntable::hybridlog
