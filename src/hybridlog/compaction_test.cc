// The log becomes shorter while it is used: values stay what they are, also after a crash at each
// step.

#include "hybridlog/compaction.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/checkpoint_file.h"
#include "hybridlog/hash_index.h"
#include "hybridlog/testing_client.h"
#include "hybridlog/testing_schedules.h"
#include "workload/random.h"

namespace turntable::hybridlog::compaction {
namespace {

using testing::Client;
using testing::Schedule;
using testing::ScheduledAtomic;
using testing::settled;

using Values = std::map<std::uint64_t, std::uint64_t>;

constexpr std::uint64_t kPage = 4096;

StoreSettings small(std::size_t pages = 4) {
  return {.index_buckets = 64,
          .log = {.page_bits = 12, .pages = pages, .mutable_share = 0.5},
          .threads = 8,
          .reader_threads = 2};
}

// A device in memory, which can be told to fail, to be full beyond some size, and to wait. What is
// given back is zeros.
class TestDevice : public Device {
 public:
  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    const std::lock_guard lock(mutex_);
    if (offset + size > capacity) return std::make_error_code(std::errc::no_space_on_device);
    if (bytes_.size() < offset + size) bytes_.resize(offset + size);
    std::memcpy(bytes_.data() + offset, data, size);
    return {};
  }
  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    asked.fetch_add(1);
    is_open.wait(false);
    const std::lock_guard lock(mutex_);
    if (is_broken || offset + size > bytes_.size())
      return std::make_error_code(std::errc::io_error);
    std::memcpy(data, bytes_.data() + offset, size);
    return {};
  }
  std::error_code sync() override { return {}; }
  std::error_code discard(std::uint64_t offset, std::uint64_t size) override {
    const std::lock_guard lock(mutex_);
    if (keeps_all) return std::make_error_code(std::errc::operation_not_supported);
    std::memset(bytes_.data() + offset, 0, size);
    given_back += size;
    return {};
  }
  void open(bool now) {
    is_open = now;
    is_open.notify_all();
  }

  std::atomic<bool> is_broken{false}, is_open{true}, keeps_all{false};
  std::atomic<std::uint64_t> capacity{UINT64_MAX}, given_back{0};
  std::atomic<int> asked{0};  // reads

 private:
  std::mutex mutex_;
  std::vector<std::byte> bytes_;
};

Session::Answer read(Client& client, std::uint64_t key) {
  return settled(client, client.read(key));
}
void add(Client& client, std::uint64_t key, std::uint64_t delta) {
  ASSERT_EQ(settled(client, {client.add(key, delta)}).status, Status::kOk);
}

// All that the store has of keys below `keys`.
Values all_of(Store& store, std::uint64_t keys) {
  Values values;
  Client client(store);
  const auto take = [&](std::uint64_t key, Session::Answer answer) {
    EXPECT_TRUE(answer.status == Status::kOk || answer.status == Status::kNotFound) << key;
    if (answer.status == Status::kOk) values[key] = answer.value;
  };
  for (std::uint64_t key = 0; key < keys; ++key) {
    if (const auto answer = client.read(key, key); answer.status != Status::kPending)
      take(key, answer);
    while (client.pending() > 64) client.complete_pending(take);
  }
  while (client.complete_pending(take) > 0) std::this_thread::yield();
  return values;
}

// All that is in the log is on the device, and can be compacted but for the last page. No client
// lives.
void settle(Store& store) {
  Address until = 0;
  {
    Client client(store);
    until = client.make_read_only();
  }
  ASSERT_FALSE(store.log().wait_until_flushed(until));
}

Compacted compact(Store& store, CompactionSettings settings = {}) {
  return Compaction(store, std::move(settings)).run();
}

class CompactionTest : public ::testing::Test {
 protected:
  TestDevice* device_ = new TestDevice;  // the store's
  Store store_{small(), std::unique_ptr<Device>(device_)};
};

TEST_F(CompactionTest, WhatIsLiveIsKeptAndTheRestGoes) {
  {
    Client client(store_);
    for (std::uint64_t round = 1; round <= 4; ++round)  // 170 records are a page
      for (std::uint64_t key = 0; key < 1000; ++key) client.upsert(key, key + round);
    for (std::uint64_t key = 0; key < 1000; key += 10) client.erase(key);
  }
  settle(store_);
  const Address tail = store_.log().tail();
  const Compacted done = compact(store_);
  EXPECT_EQ(store_.log().begin(), tail / kPage * kPage);
  EXPECT_EQ(done.freed_bytes, store_.log().begin() - kFirstAddress);
  // 900 keys are there; what lies in the last page is not gone through.
  EXPECT_LE(done.kept, 900U);
  EXPECT_GE(done.kept, 900U - kPage / sizeof(Record));
  EXPECT_EQ(done.kept_bytes, done.kept * sizeof(Record));
  EXPECT_GE(store_.log().tail() - tail, done.kept * sizeof(Record));
  EXPECT_FALSE(store_.log().give_back(store_.log().begin()));
  EXPECT_EQ(device_->given_back, store_.log().begin());
  const Values there = all_of(store_, 1100);
  EXPECT_EQ(there.size(), 900U);
  for (const auto& [key, value] : there) {
    EXPECT_NE(key % 10, 0U);
    EXPECT_EQ(value, key + 4);
  }
  // The second time all that was copied is gone through, and there is nothing else.
  settle(store_);
  EXPECT_LE(compact(store_).seen, done.kept + 2 * kPage / sizeof(Record));
  EXPECT_EQ(all_of(store_, 1100), there);
}

TEST_F(CompactionTest, OnlyWhatIsWantedIsKept) {
  {
    Client client(store_);
    for (std::uint64_t key = 0; key < 1000; ++key) client.upsert(key, key);
    for (std::uint64_t key = 5000; key < 5400; ++key) client.upsert(key, 1);  // pushes them out
  }
  settle(store_);
  const auto is_lower = [](std::uint64_t hash) { return hash <= UINT64_MAX / 2; };
  compact(store_, {.is_wanted = is_lower});
  Client client(store_);
  std::uint64_t lower = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    const auto answer = read(client, key);
    ASSERT_EQ(answer.status == Status::kOk, is_lower(hash_of(key))) << key;
    lower += is_lower(hash_of(key)) ? 1 : 0;
  }
  EXPECT_GT(lower, 300U);
  EXPECT_LT(lower, 700U);
}

TEST_F(CompactionTest, TombstonesAreKeptOnRequest) {
  {
    Client client(store_);
    for (std::uint64_t key = 0; key < 400; ++key) client.upsert(key, key);
  }
  settle(store_);
  {
    Client client(store_);
    for (std::uint64_t key = 0; key < 400; ++key) client.erase(key);
    for (std::uint64_t key = 5000; key < 5400; ++key) client.upsert(key, 1);
  }
  settle(store_);
  const Address until = 5 * kPage;  // 170 records are a page: the tombstones end in the fifth
  // The first of the five has 168 records: of 848, 400 are replaced and 400 are tombstones.
  EXPECT_EQ(compact(store_, {.until = until, .keeps_tombstones = true}).kept, 448U);
  EXPECT_EQ(all_of(store_, 400), Values());
}

TEST_F(CompactionTest, NeverBeginsAboveWhereSomebodyPoints) {
  {
    Client client(store_);
    for (std::uint64_t i = 0; i < 3000; ++i) client.upsert(i % 500, i);
  }
  settle(store_);
  const Address pointed = 3 * kPage + 100;
  compact(store_, {.may_truncate_until = [=] { return pointed; }});
  EXPECT_EQ(store_.log().begin(), 3 * kPage);
  // Somebody comes while it goes on.
  int times = 0;
  compact(store_, {.may_truncate_until = [&]() -> Address {
            return ++times == 1 ? kAddressMask : 5 * kPage;
          }});
  EXPECT_EQ(store_.log().begin(), 5 * kPage);
  Values expected;
  for (std::uint64_t i = 0; i < 3000; ++i) expected[i % 500] = i;
  EXPECT_EQ(all_of(store_, 600), expected);
}

// The device waits between the moment at which a record was looked up and the one at which it is
// read. By then the record is at another place, and what was there is given back.
TEST_F(CompactionTest, ZerosAreNoRecord) {
  {
    Client client(store_);
    client.upsert(1, 10);
    client.upsert(2, 20);
    for (std::uint64_t key = 5000; key < 6000; ++key) client.upsert(key, 1);
  }
  settle(store_);
  std::atomic<int> under_way{0};
  device_->open(false);
  const auto wait_for = [&](Client& client) {
    ++under_way;
    return settled(client, {Status::kPending});
  };
  std::jthread reader([&] {
    Client client(store_);
    ASSERT_EQ(client.read(1).status, Status::kPending);
    const auto answer = wait_for(client);
    EXPECT_EQ(answer.status, Status::kOk);
    EXPECT_EQ(answer.value, 10U);
  });
  std::jthread adder([&] {
    Client client(store_);
    ASSERT_EQ(client.add(2, 5), Status::kPending);
    EXPECT_EQ(wait_for(client).status, Status::kOk);
    EXPECT_EQ(read(client, 2).value, 25U);
  });
  while (under_way < 2 || device_->asked < 2) std::this_thread::yield();
  {
    Client client(store_);
    ASSERT_EQ(client.keep(1, bytes_of(10), false, kFirstAddress), Status::kOk);
    ASSERT_EQ(client.keep(2, bytes_of(20), false, kFirstAddress + sizeof(Record)), Status::kOk);
    ASSERT_EQ(client.keep(1, bytes_of(10), false, kFirstAddress),
              Status::kNotFound);  // it has another one
  }
  store_.log().truncate(kPage);
  ASSERT_FALSE(store_.log().give_back(kPage));
  device_->open(true);
}

// A chain is followed record by record. Its lower part goes while the upper one is being read.
TEST_F(CompactionTest, AChainThatEndsSoonerIsLookedUpAgain) {
  std::uint64_t other = 2;  // of key 1's chain: the same bucket of 64, and the same tag
  const auto place = [](std::uint64_t key) {
    return std::pair(hash_of(key) % 64, IndexEntry::tag_of(hash_of(key)));
  };
  while (place(other) != place(1)) ++other;
  {
    Client client(store_);
    client.upsert(1, 10);
    for (std::uint64_t key = 5'000'000; key < 5'000'200; ++key) client.upsert(key, 1);
    client.upsert(other, 20);  // in page 1
    for (std::uint64_t key = 5'001'000; key < 5'002'000; ++key) client.upsert(key, 1);
  }
  settle(store_);
  Client reader(store_), keeper(store_);
  ASSERT_EQ(reader.read(1).status, Status::kPending);  // of `other`, which stays
  ASSERT_EQ(settled(keeper, {keeper.keep(1, bytes_of(10), false, kFirstAddress)}).status,
            Status::kOk);
  std::jthread truncating([&] { store_.log().truncate(kPage); });
  while (store_.log().begin() != kPage) {
    reader.refresh();
    keeper.refresh();
  }
  const auto answer = settled(reader, {Status::kPending});
  EXPECT_EQ(answer.status, Status::kOk);
  EXPECT_EQ(answer.value, 10U);
}

// Whoever may have looked a key up before it was written again does not see the new begin.
TEST_F(CompactionTest, BeginMovesOnceEverybodyHasRefreshed) {
  {
    Client client(store_);
    for (std::uint64_t key = 0; key < 1000; ++key) client.upsert(key, 1);
  }
  settle(store_);
  Client holds(store_);
  std::atomic<bool> has_begun{false};
  std::jthread truncating([&] {
    has_begun = true;
    store_.log().truncate(kPage);
  });
  while (!has_begun) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) {  // it would move at once
    ASSERT_EQ(store_.log().begin(), kFirstAddress);
    std::this_thread::yield();
  }
  while (store_.log().begin() != kPage) holds.refresh();
}

TEST_F(CompactionTest, ADeviceThatIsFullOrGivesNothingLeavesAllAsItWas) {
  Values expected;
  {
    Client client(store_);
    for (std::uint64_t key = 0; key < 1000; ++key) client.upsert(key, expected[key] = key + 1);
  }
  settle(store_);
  device_->capacity = store_.log().flushed_until();
  try {
    compact(store_);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_space_on_device);
  }
  EXPECT_EQ(store_.log().begin(), kFirstAddress);
  EXPECT_EQ(all_of(store_, 1000), expected);
  device_->is_broken = true;
  EXPECT_THROW(compact(store_), std::system_error);
  EXPECT_EQ(store_.log().begin(), kFirstAddress);
  device_->is_broken = false;
  device_->capacity = UINT64_MAX;
  while (store_.log().error()) std::this_thread::yield();
  compact(store_);
  EXPECT_GT(store_.log().begin(), kFirstAddress);
  EXPECT_EQ(all_of(store_, 1000), expected);
}

TEST_F(CompactionTest, WhoStopsItLeavesAllAsItWas) {
  Values expected;
  {
    Client client(store_);
    for (std::uint64_t key = 0; key < 1000; ++key) client.upsert(key, expected[key] = key + 1);
  }
  settle(store_);
  std::stop_source stop;
  int asked = 0;
  const auto is_wanted = [&](std::uint64_t) {
    if (++asked == 300) stop.request_stop();
    return true;
  };
  const Compacted done = Compaction(store_, {.is_wanted = is_wanted}).run(stop.get_token());
  EXPECT_EQ(done.kept, 300U);
  EXPECT_EQ(done.freed_bytes, 0U);
  EXPECT_EQ(store_.log().begin(), kFirstAddress);
  EXPECT_EQ(all_of(store_, 1000), expected);
  compact(store_);
  EXPECT_EQ(all_of(store_, 1000), expected);
}

// What could not be given back is, with the next time.
TEST_F(CompactionTest, SpaceIsGivenBackOnceThatIsPossible) {
  const auto fill_and_compact = [this] {
    {
      Client client(store_);
      for (std::uint64_t key = 0; key < 1000; ++key) client.upsert(key, 1);
    }
    settle(store_);
    compact(store_);
    return store_.log().begin();
  };
  device_->keeps_all = true;
  const Address first = fill_and_compact();
  EXPECT_EQ(store_.log().give_back(first), std::errc::operation_not_supported);
  device_->keeps_all = false;
  const Address second = fill_and_compact();
  EXPECT_GT(second, first);
  EXPECT_FALSE(store_.log().give_back(first));  // that of an older checkpoint
  EXPECT_EQ(device_->given_back, first);
  EXPECT_FALSE(store_.log().give_back(second + 10 * kPage));  // never what is in use
  EXPECT_EQ(device_->given_back, second);
}

TEST_F(CompactionTest, AsAMapHasIt) {
  Values expected;
  workload::Random random(1);
  std::uint64_t freed = 0;
  for (int round = 0; round < 60; ++round) {
    {
      Client client(store_);
      for (int i = 0; i < 1000; ++i) {
        const std::uint64_t key = random.next() % 1500, value = random.next() % 1000;
        switch (random.next() % 8) {
          case 0:
            ASSERT_EQ(client.erase(key), Status::kOk);
            expected.erase(key);
            break;
          case 1:
          case 2:
            ASSERT_EQ(client.upsert(key, value), Status::kOk);
            expected[key] = value;
            break;
          case 3:
          case 4:
            add(client, key, value);
            expected[key] += value;
            break;
          default: {
            const auto answer = read(client, key);
            ASSERT_EQ(answer.status == Status::kOk, expected.contains(key)) << round;
            if (answer.status == Status::kOk) {
              ASSERT_EQ(answer.value, expected[key]) << round;
            }
          }
        }
      }
    }
    if (round % 3 == 0) settle(store_);
    // Also where it remembers next to nothing, and has to look for newer records.
    freed += compact(store_, {.most_remembered = round % 2 == 0 ? 1U : 4096U}).freed_bytes;
    ASSERT_FALSE(store_.log().give_back(store_.log().begin()));
    if (round % 10 == 9) {
      ASSERT_EQ(all_of(store_, 1500), expected) << round;
    }
  }
  EXPECT_EQ(freed, store_.log().begin() - kFirstAddress);
  EXPECT_GT(freed, 100 * kPage);
}

// The same with values of 0 to 2048 bytes, which is half a page, and pages that end anywhere.
TEST_F(CompactionTest, ValuesOfAnyLengthAsAMapHasThem) {
  constexpr std::uint64_t kKeys = 40;
  std::map<std::uint64_t, std::vector<std::byte>> expected;
  workload::Random random(2);
  for (int round = 0; round < 60; ++round) {
    Client client(store_);
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t key = random.next() % kKeys;
      if (random.next() % 8 == 0) {
        ASSERT_EQ(client.erase(key), Status::kOk);
        expected.erase(key);
        continue;
      }
      const std::size_t bytes = random.next() % 4 == 0 ? 8 : random.next() % 2049;
      expected[key].assign(bytes, static_cast<std::byte>(random.next()));
      ASSERT_EQ(client.upsert_value(key, expected[key]), Status::kOk);
    }
    client.make_read_only();
    std::jthread compacting([this] { compact(store_, {.most_remembered = 16}); });
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const auto answer = settled(client, client.read_value(key));
      ASSERT_EQ(answer.status == Status::kOk, expected.contains(key)) << round;
      if (answer.status == Status::kOk) {
        ASSERT_TRUE(std::ranges::equal(client.value().bytes(), expected[key])) << round;
      }
    }
    while (client.complete_pending([](std::uint64_t, Session::Answer) {}) > 0) continue;
    // It needs this thread's refreshing until it has ended.
    std::atomic<bool> has_ended{false};
    std::jthread joining([&] {
      compacting.join();
      has_ended = true;
    });
    while (!has_ended) client.refresh();
    ASSERT_FALSE(store_.log().give_back(store_.log().begin()));
  }
  EXPECT_GT(store_.log().begin(), 100 * kPage);
}

// A record that says that it is longer than what is left of its page is none.
TEST_F(CompactionTest, ARecordBeyondItsPageIsRefused) {
  {
    Client client(store_);
    const std::vector<std::byte> value(100);
    for (std::uint64_t key = 0; key < 300; ++key) client.upsert_value(key, value);
  }
  settle(store_);
  std::array<std::byte, kPage> page{};
  ASSERT_FALSE(device_->read(0, page.data(), kPage));
  auto* const record = reinterpret_cast<Record*>(page.data() + kFirstAddress);
  record->value = 5000;  // its length
  ASSERT_FALSE(device_->write(0, page.data(), kPage));
  try {
    compact(store_);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::bad_message);
    EXPECT_NE(std::string(error.what()).find("address 64 has a record beyond its end"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(store_.log().begin(), kFirstAddress);
}

// Threads add to keys that all share, and store, add to and delete keys of their own, while the log
// is compacted and checkpoints are made again and again.
TEST_F(CompactionTest, OthersWorkMeanwhile) {
  constexpr int kThreads = 3, kOperations = 40'000;
  constexpr std::uint64_t kShared = 700, kOwn = 300;
  std::array<Values, kThreads> added, own;
  std::atomic<int> at_work{kThreads};
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Client client(store_);
      workload::Random random(i);
      const auto told = [](std::uint64_t, Session::Answer answer) {
        ASSERT_EQ(answer.status, Status::kOk);
      };
      for (int n = 0; n < kOperations; ++n) {
        const std::uint64_t key = kShared + i * kOwn + random.next() % kOwn;
        switch (random.next() % 8) {
          case 0:
            ASSERT_EQ(client.erase(key), Status::kOk);
            own[i].erase(key);
            break;
          case 1:
            ASSERT_EQ(client.upsert(key, n), Status::kOk);
            own[i][key] = n;
            break;
          case 2: {
            while (client.complete_pending(told) > 0) std::this_thread::yield();
            const auto answer = read(client, key);
            ASSERT_EQ(answer.status == Status::kOk, own[i].contains(key)) << key;
            if (answer.status == Status::kOk) {
              ASSERT_EQ(answer.value, own[i][key]);
            }
            break;
          }
          default: {
            const std::uint64_t shared = random.next() % kShared;
            const Status status = client.add(shared, 1);
            ASSERT_TRUE(status == Status::kOk || status == Status::kPending);
            ++added[i][shared];
          }
        }
        if (n % 16 == 0) client.complete_pending(told);
      }
      while (client.complete_pending(told) > 0) std::this_thread::yield();
      --at_work;
    });
  }
  std::jthread checkpointing([&] {
    while (at_work > 0) {
      const Checkpoint made = store_.checkpoint();
      ASSERT_FALSE(store_.log().give_back(made.begin));
    }
  });
  Compacted all;
  while (at_work > 0) {
    const Compacted done = compact(store_);
    all.kept += done.kept;
    all.freed_bytes += done.freed_bytes;
  }
  threads.clear();
  checkpointing.join();
  Values expected;
  for (const auto& mine : added)
    for (const auto& [key, sum] : mine) expected[key] += sum;
  for (const auto& mine : own) expected.insert(mine.begin(), mine.end());
  EXPECT_EQ(all_of(store_, kShared + kThreads * kOwn), expected);
  EXPECT_GT(all.kept, 1000U);
  EXPECT_GT(all.freed_bytes, 20 * kPage);
}

// A store in a directory.
class CompactionInAFile : public ::testing::Test {
 protected:
  std::filesystem::path log() const { return directory_.path() / "log"; }
  static std::unique_ptr<Store> open(const std::filesystem::path& directory) {
    auto device = open_file(directory / "log");
    if (const auto from = read_checkpoint(directory / "checkpoint.json"))
      return std::make_unique<Store>(small(8), std::move(device), *from);
    return std::make_unique<Store>(small(8), std::move(device));
  }
  Checkpoint checkpoint(Store& store) {
    Checkpoint made = store.checkpoint();
    write_checkpoint(directory_.path() / "checkpoint.json", made);
    return made;
  }
  std::uint64_t bytes_on_device() const {
    struct stat found {};
    EXPECT_EQ(::stat(log().c_str(), &found), 0);
    return static_cast<std::uint64_t>(found.st_blocks) * 512;
  }

  ScratchDirectory directory_;
};

TEST_F(CompactionInAFile, TakesAsMuchSpaceAsWhatIsLiveAsksFor) {
  auto store = open(directory_.path());
  constexpr std::uint64_t kKeys = 1000;  // 24,000 bytes, six pages
  std::uint64_t most = 0;
  for (std::uint64_t round = 1; round <= 50; ++round) {
    {
      Client client(*store);
      for (std::uint64_t i = 0; i < 4 * kKeys; ++i) {
        ASSERT_EQ(client.upsert(i * 7 % kKeys, round), Status::kOk);
        if (i % 64 == 0) client.refresh();
      }
    }
    checkpoint(*store);
    compact(*store);
    const Checkpoint made = checkpoint(*store);
    EXPECT_EQ(made.begin, store->log().begin());
    const std::error_code error = store->log().give_back(made.begin);
    if (error == std::errc::operation_not_supported) GTEST_SKIP() << "a file system without holes";
    ASSERT_FALSE(error);
    most = std::max(most, bytes_on_device());
  }
  // 50 rounds of 4000 records are 1172 pages. Live are six, in at most as many copies as there are
  // between two compactions, of which some lie in a page that is not full.
  EXPECT_GT(store->log().tail(), 300 * kPage);
  EXPECT_LE(most, 40 * kPage);
  Client client(*store);
  for (std::uint64_t key = 0; key < kKeys; ++key) ASSERT_EQ(read(client, key).value, 50U) << key;
}

TEST_F(CompactionInAFile, WhatNoCheckpointCoveredIsNotGoneThrough) {
  {
    const auto store = open(directory_.path());
    checkpoint(*store);  // of nothing
    {
      Client client(*store);
      for (std::uint64_t key = 0; key < 1000; ++key) client.upsert(key, 1);
    }
    settle(*store);
  }
  const auto store = open(directory_.path());
  {
    Client client(*store);
    for (std::uint64_t key = 1000; key < 1400; ++key) client.upsert(key, 2);
  }
  settle(*store);
  const Compacted done = compact(*store);
  EXPECT_EQ(done.seen, done.kept);
  EXPECT_EQ(done.seen, 340U);  // two whole pages of 170
  EXPECT_EQ(all_of(*store, 1000), Values());
}

// What a process leaves that is killed at a step: its files, which another one recovers.
TEST_F(CompactionInAFile, ACrashAtAnyStepRecoversTheLastCheckpoint) {
  constexpr std::uint64_t kKeys = 800;
  Values now, covered;
  std::vector<std::pair<std::string, Values>> left;
  const auto crash = [&](const std::string& step) {
    const std::filesystem::path to = directory_.path() / step;
    std::filesystem::create_directory(to);
    for (const char* file : {"log", "checkpoint.json"})
      std::filesystem::copy_file(directory_.path() / file, to / file);
    left.emplace_back(step, covered);
  };
  auto store = open(directory_.path());
  const auto work = [&](std::uint64_t round) {
    Client client(*store);
    workload::Random random(round);
    for (std::uint64_t i = 0; i < 3 * kKeys; ++i) {
      const std::uint64_t key = random.next() % kKeys;
      if (i % 5 == 0) {
        ASSERT_EQ(client.erase(key), Status::kOk);
        now.erase(key);
      } else {
        ASSERT_EQ(client.upsert(key, round * 10'000 + i), Status::kOk);
        now[key] = round * 10'000 + i;
      }
      if (i % 64 == 0) client.refresh();
    }
  };
  for (std::uint64_t life = 1; life <= 3; ++life) {
    const std::string name = "life " + std::to_string(life) + ", ";
    work(2 * life);
    checkpoint(*store);
    covered = now;
    work(2 * life + 1);  // deletes and replaces what is covered
    settle(*store);
    crash(name + "in use");
    int asked = 0;
    const Address begin = store->log().begin();
    const Compacted done = compact(
        *store, {.is_wanted =
                     [&](std::uint64_t) {
                       if (++asked % 300 == 0)
                         crash(name + "record " + std::to_string(asked) + " is written again");
                       return true;
                     },
                 .may_truncate_until =
                     [&, times = 0]() mutable {
                       if (++times == 2) crash(name + "all are written again");
                       return kAddressMask;
                     }});
    ASSERT_GT(done.freed_bytes, 0U);
    ASSERT_GT(asked, 600);
    crash(name + "begun behind");
    {
      Client client(*store);
      client.make_read_only();
    }
    settle(*store);
    crash(name + "copies are on the device");
    const Checkpoint made =
        store->checkpoint({.all_prepared = [&] { crash(name + "all are prepared"); },
                           .all_crossed = [&] { crash(name + "all have crossed"); }});
    ASSERT_EQ(made.begin, begin + done.freed_bytes);
    crash(name + "a checkpoint without its file");
    write_checkpoint(directory_.path() / "checkpoint.json", made);
    covered = now;
    crash(name + "covered");
    const auto error = store->log().give_back(made.begin / 2);  // in the middle of it
    ASSERT_TRUE(!error || error == std::errc::operation_not_supported);
    crash(name + "some space is given back");
    static_cast<void>(store->log().give_back(made.begin));
    crash(name + "no space");
    store.reset();
    store = open(directory_.path());
  }
  ASSERT_GT(left.size(), 30U);
  for (const auto& [step, values] : left) {
    {
      const auto recovered = open(directory_.path() / step);
      ASSERT_EQ(all_of(*recovered, kKeys), values) << step;
      // It goes on as any other, also with what was left of the compaction.
      settle(*recovered);
      compact(*recovered);
      const Checkpoint made = recovered->checkpoint();
      write_checkpoint(directory_.path() / step / "checkpoint.json", made);
      static_cast<void>(recovered->log().give_back(made.begin));
    }
    ASSERT_EQ(all_of(*open(directory_.path() / step), kKeys), values) << step << ", once more";
  }
}

// Sessions, checkpoints and compactions at once, and a crash: of every session what is there is
// what its operations have done up to its serial number.
TEST_F(CompactionInAFile, EverySessionComesBackUpToOneOfItsOperations) {
  constexpr std::uint64_t kSessions = 2, kShared = 400, kOwn = 200;
  const auto is_shared = [](std::uint64_t serial) { return serial % 3 == 0; };
  const auto shared_key = [](std::uint64_t serial) { return serial / 3 * 7 % kShared; };
  const auto own_key = [](std::uint64_t session, std::uint64_t serial) {
    return kShared + session * kOwn + serial * 11 % kOwn;
  };
  std::uint64_t freed = 0;
  for (int life = 0; life < 4; ++life) {
    auto store = open(directory_.path());
    if (life > 0) {
      const auto from = *read_checkpoint(directory_.path() / "checkpoint.json");
      ASSERT_EQ(from.serials.size(), kSessions);
      Values expected;
      for (const auto& [id, last] : from.serials) {
        for (std::uint64_t serial = 1; serial <= last; ++serial) {
          if (is_shared(serial)) {
            ++expected[shared_key(serial)];
          } else if (serial % 17 == 0) {
            expected.erase(own_key(id.low, serial));
          } else {
            expected[own_key(id.low, serial)] = serial;
          }
        }
      }
      ASSERT_EQ(all_of(*store, kShared + kSessions * kOwn), expected) << "life " << life;
    }
    std::atomic<bool> ends{false};
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kSessions; ++i) {
      threads.emplace_back([&, i] {
        Client client(*store, {1, i});
        while (!ends) {
          for (int n = 0; n < 16; ++n) {
            const std::uint64_t serial = client.serial() + 1;
            if (is_shared(serial)) {
              client.add(shared_key(serial), 1);
            } else if (serial % 17 == 0) {
              client.erase(own_key(i, serial));
            } else {
              client.upsert(own_key(i, serial), serial);
            }
          }
          client.complete_pending(
              [](auto, Session::Answer answer) { ASSERT_EQ(answer.status, Status::kOk); });
        }
      });
    }
    threads.emplace_back([&] {
      while (!ends) freed += compact(*store).freed_bytes;
    });
    for (int n = 0; n < 8; ++n) {
      const Checkpoint made = checkpoint(*store);
      static_cast<void>(store->log().give_back(made.begin));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ends = true;
  }
  EXPECT_GT(freed, 100 * kPage);
}

// The steps of a small model, in every order: the index and the epochs are the store's, records are
// a few numbers. One thread writes key 1's record at address 2 again and truncates below 4, another
// one changes the value, a third one reads.
struct Model {
  using Index = BasicHashIndex<ScheduledAtomic>;
  using Epochs = BasicEpoch<ScheduledAtomic, 2>;
  struct Version {
    Address previous = kNoAddress;
    std::uint64_t value = 0;
  };

  static constexpr std::uint64_t kHash = 1;
  static constexpr Address kOld = 2, kFirst = 4;

  Model() {
    log[kOld] = {kNoAddress, 10};
    Index::Found found = index.find_or_make(kHash);
    found.replace(kOld);
  }

  // 0: not found.
  std::uint64_t read() {
    const Index::Found found = index.find(kHash);
    const Address address = found.entry.address();
    return address < begin.load() ? 0 : log[address].value;
  }
  void upsert(std::uint64_t value) {
    for (Index::Found found = index.find(kHash);; found.read_again()) {
      const Address address = next++;
      log[address] = {found.entry.address(), value};
      if (found.replace(address)) return;
    }
  }
  void add(std::uint64_t delta) {
    for (Index::Found found = index.find(kHash);; found.read_again()) {
      const Address before = found.entry.address();
      if (before < begin.load()) {
        is_lost = true;
        return;
      }
      const Address address = next++;
      log[address] = {before, log[before].value + delta};
      if (found.replace(address)) return;
    }
  }
  void keep() {
    for (Index::Found found = index.find(kHash);; found.read_again()) {
      if (found.entry.address() != kOld) return;
      const Address address = next++;
      log[address] = {kOld, log[kOld].value};
      if (found.replace(address)) return;
    }
  }

  Index index{1};
  Epochs epoch{3};
  ScheduledAtomic<Address> begin{kOld};
  // Not steps: they are done between steps of the thread that is running.
  std::map<Address, Version> log;
  Address next = kFirst;
  bool is_lost = false;
};

Schedule::Explored explore(bool by_epoch, bool adds, int& wrong) {
  std::unique_ptr<Model> model;
  std::uint64_t seen = 0;
  const auto compact = [&, by_epoch] {
    {
      Model::Epochs::Thread thread(model->epoch);
      thread.protect();
      model->keep();
    }
    if (by_epoch) {
      model->epoch.bump([&] { model->begin.store(Model::kFirst); });
    } else {
      model->begin.store(Model::kFirst);
    }
  };
  const auto change = [&, adds] {
    Model::Epochs::Thread thread(model->epoch);
    thread.protect();
    if (adds) {
      model->add(5);
    } else {
      model->upsert(15);
    }
  };
  const auto look = [&] {
    Model::Epochs::Thread thread(model->epoch);
    thread.protect();
    seen = model->read();
  };
  return Schedule::explore(
      [&]() -> Schedule::Threads {
        model = std::make_unique<Model>();
        seen = 0;
        return {compact, change, look};
      },
      [&] {
        const bool is_right = (seen == 10 || seen == 15) && !model->is_lost && model->read() == 15;
        wrong += is_right ? 0 : 1;
      },
      /*most_switches=*/2);
}

TEST(CompactionOrders, NothingIsLostInAnyOrder) {
  for (const bool adds : {false, true}) {
    int wrong = 0;
    const auto explored = explore(/*by_epoch=*/true, adds, wrong);
    EXPECT_GT(explored.orders, 1000U);
    EXPECT_EQ(explored.endless, 0U);
    EXPECT_EQ(wrong, 0);
  }
}

TEST(CompactionOrders, WithoutTheEpochSomethingIs) {
  for (const bool adds : {false, true}) {
    int wrong = 0;
    explore(/*by_epoch=*/false, adds, wrong);
    EXPECT_GT(wrong, 0);
  }
}

}  // namespace
}  // namespace turntable::hybridlog::compaction
