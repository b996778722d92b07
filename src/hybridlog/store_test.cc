#include "hybridlog/store.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/batch.h"
#include "hybridlog/testing_client.h"
#include "workload/random.h"

namespace turntable::hybridlog {
namespace {

using testing::Client;
using testing::Places;

// A device in memory that can be told to fail.
class TestDevice : public Device {
 public:
  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    const std::lock_guard lock(mutex_);
    if (is_full) return std::make_error_code(std::errc::no_space_on_device);
    if (bytes_.size() < offset + size) bytes_.resize(offset + size);
    std::memcpy(bytes_.data() + offset, data, size);
    return {};
  }
  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    const std::lock_guard lock(mutex_);
    if (is_broken || offset + size > bytes_.size())
      return std::make_error_code(std::errc::io_error);
    std::memcpy(data, bytes_.data() + offset, size);
    return {};
  }
  std::error_code sync() override { return {}; }

  std::atomic<bool> is_full{false}, is_broken{false};

 private:
  std::mutex mutex_;
  std::vector<std::byte> bytes_;
};

constexpr std::size_t kInPage = 4096 / sizeof(Record);

// Pages of 170 records, of which so many are in memory.
StoreSettings small(std::size_t pages = 4) {
  return {.index_buckets = 64,
          .log = {.page_bits = 12, .pages = pages, .mutable_share = 0.5},
          .threads = 8,
          .reader_threads = 2};
}

class StoreTest : public ::testing::TestWithParam<Places> {
 protected:
  // The answer, also of an operation that is pending at first.
  Session::Answer read(Client& session, std::uint64_t key) {
    const auto answer = session.read(key, key);
    return answer.status == Status::kPending ? last(session) : answer;
  }
  Status add(Client& session, std::uint64_t key, std::uint64_t delta) {
    const Status status = session.add(key, delta, key);
    return status == Status::kPending ? last(session).status : status;
  }
  // Of the one operation that is pending.
  static Session::Answer last(Client& session) {
    std::optional<Session::Answer> found;
    while (session.complete_pending([&](std::uint64_t, Session::Answer answer) { found = answer; }))
      std::this_thread::yield();
    return found.value();
  }
  // Until nobody changes records below the tail in place any more.
  static void settle(Client& session, Store& store) {
    const Address until = session.make_read_only();
    while (store.log().safe_read_only() < until) session.refresh();
  }
  // Until the keys' records are on the device alone.
  static void push_out(Client& session, Store& store, std::uint64_t from_key = 1U << 20U) {
    const Address until = store.log().tail();
    for (std::uint64_t key = from_key; store.log().head() < until; ++key) {
      ASSERT_EQ(session.upsert(key, 1), Status::kOk);
      session.refresh();
    }
  }

  TestDevice* device_ = new TestDevice;  // the store's
  Store store_{small(), std::unique_ptr<Device>(device_)};
};

TEST_P(StoreTest, KeepsWhatIsStored) {
  Client session(store_, {}, GetParam());
  EXPECT_EQ(session.read(1).status, Status::kNotFound);
  EXPECT_EQ(session.upsert(1, 10), Status::kOk);
  EXPECT_EQ(session.read(1).value, 10U);
  EXPECT_EQ(session.upsert(1, 11), Status::kOk);
  EXPECT_EQ(session.add(1, 5), Status::kOk);
  EXPECT_EQ(session.add(2, 7), Status::kOk);
  EXPECT_EQ(session.read(1).value, 16U);
  EXPECT_EQ(session.read(2).value, 7U);
  EXPECT_EQ(session.erase(1), Status::kOk);
  EXPECT_EQ(session.read(1).status, Status::kNotFound);
  EXPECT_EQ(session.erase(3), Status::kOk);
  EXPECT_EQ(session.add(1, 2), Status::kOk);  // from nothing again
  EXPECT_EQ(session.read(1).value, 2U);
}

TEST_P(StoreTest, InTheMutableRegionNothingIsAppended) {
  Client session(store_, {}, GetParam());
  session.upsert(1, 10);
  const Address tail = store_.log().tail();
  session.upsert(1, 11);
  session.add(1, 1);
  session.erase(1);
  EXPECT_EQ(store_.log().tail(), tail);
}

TEST_P(StoreTest, InTheReadOnlyRegionWhatChangesIsAppended) {
  Client session(store_, {}, GetParam());
  for (const std::uint64_t key : {1, 2, 3}) session.upsert(key, 10 * key);
  settle(session, store_);
  const Address tail = store_.log().tail();
  EXPECT_EQ(session.read(1).value, 10U);
  EXPECT_EQ(store_.log().tail(), tail);
  EXPECT_EQ(session.upsert(1, 11), Status::kOk);
  EXPECT_EQ(session.add(2, 1), Status::kOk);
  EXPECT_EQ(session.erase(3), Status::kOk);
  EXPECT_EQ(store_.log().tail(), tail + 3 * sizeof(Record));
  EXPECT_EQ(session.read(1).value, 11U);
  EXPECT_EQ(session.read(2).value, 21U);
  EXPECT_EQ(session.read(3).status, Status::kNotFound);
}

// `other` has not refreshed since the record became read-only: it may still be adding in place.
TEST_P(StoreTest, InTheFuzzyRegionAdditionsWait) {
  Client session(store_, {}, GetParam()), other(store_, {}, GetParam());
  session.upsert(1, 10);
  session.upsert(2, 20);
  session.make_read_only();
  session.refresh();
  ASSERT_LT(store_.log().safe_read_only(), store_.log().read_only());
  const Address tail = store_.log().tail();
  EXPECT_EQ(session.read(1).value, 10U);
  EXPECT_EQ(session.add(1, 1, 77), Status::kPending);
  EXPECT_EQ(session.complete_pending([](auto...) { FAIL(); }), 1U);
  EXPECT_EQ(session.upsert(2, 21), Status::kOk);  // needs no old value
  EXPECT_EQ(store_.log().tail(), tail + sizeof(Record));
  other.refresh();
  int completed = 0;
  const auto count = [&](std::uint64_t context, Session::Answer answer) {
    EXPECT_EQ(context, 77U);
    EXPECT_EQ(answer.status, Status::kOk);
    ++completed;
  };
  EXPECT_EQ(session.complete_pending(count), 0U);
  EXPECT_EQ(completed, 1);
  EXPECT_EQ(session.read(1).value, 11U);
  EXPECT_EQ(session.read(2).value, 21U);
}

TEST_P(StoreTest, OnTheDeviceItIsReadFirst) {
  Client session(store_, {}, GetParam());
  for (const std::uint64_t key : {1, 2, 3, 4}) session.upsert(key, 10 * key);
  session.erase(4);
  push_out(session, store_);
  EXPECT_EQ(session.read(1).status, Status::kPending);
  EXPECT_EQ(last(session).value, 10U);
  EXPECT_EQ(session.upsert(1, 11), Status::kOk);
  EXPECT_EQ(session.read(1).value, 11U);
  EXPECT_EQ(add(session, 2, 1), Status::kOk);
  EXPECT_EQ(session.read(2).value, 21U);
  EXPECT_EQ(session.erase(3), Status::kOk);
  EXPECT_EQ(session.read(3).status, Status::kNotFound);
  EXPECT_EQ(read(session, 4).status, Status::kNotFound);
  EXPECT_EQ(add(session, 4, 3), Status::kOk);
  EXPECT_EQ(session.read(4).value, 3U);
}

// What comes back from the device is not what the key has by then.
TEST_P(StoreTest, AnAdditionThatWaitsForTheDeviceSeesWhatHappensMeanwhile) {
  Client session(store_, {}, GetParam());
  session.upsert(1, 10);
  push_out(session, store_);
  Client other(store_, {}, GetParam());
  ASSERT_EQ(session.add(1, 1), Status::kPending);
  ASSERT_EQ(other.upsert(1, 100), Status::kOk);
  EXPECT_EQ(last(session).status, Status::kOk);
  EXPECT_EQ(session.read(1).value, 101U);
}

TEST_P(StoreTest, ADeviceThatDoesNotGiveTheRecord) {
  Client session(store_, {}, GetParam());
  session.upsert(1, 10);
  push_out(session, store_);
  device_->is_broken = true;
  EXPECT_EQ(read(session, 1).status, Status::kIoError);
  EXPECT_EQ(add(session, 1, 1), Status::kIoError);
  device_->is_broken = false;
  EXPECT_EQ(read(session, 1).value, 10U);
}

TEST_P(StoreTest, AFullDeviceIsSaidAndNothingIsLost) {
  Client session(store_, {}, GetParam());
  device_->is_full = true;
  std::uint64_t stored = 0;
  while (session.upsert(stored, stored + 1) == Status::kOk) ++stored;
  EXPECT_GE(stored, 3 * kInPage);
  EXPECT_EQ(session.upsert(stored, 1), Status::kNoSpace);
  EXPECT_EQ(store_.log().error(), std::errc::no_space_on_device);
  EXPECT_EQ(session.add(stored - 1, 1), Status::kOk);  // in place needs no room
  device_->is_full = false;
  while (session.upsert(stored, stored + 1) != Status::kOk) session.refresh();
  for (std::uint64_t key = 0; key <= stored; ++key)
    EXPECT_EQ(read(session, key).value, key + 1 + (key == stored - 1 ? 1 : 0)) << key;
  EXPECT_FALSE(store_.log().error());
}

TEST_P(StoreTest, AsAMapHasIt) {
  std::map<std::uint64_t, std::uint64_t> expected;
  Client session(store_, {}, GetParam());
  workload::Random random(1);
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t key = random.next() % 1500, value = random.next() % 1000;
    switch (random.next() % 8) {
      case 0:
        ASSERT_EQ(session.erase(key), Status::kOk);
        expected.erase(key);
        break;
      case 1:
      case 2:
        ASSERT_EQ(session.upsert(key, value), Status::kOk);
        expected[key] = value;
        break;
      case 3:
      case 4:
      case 5:
        ASSERT_EQ(add(session, key, value), Status::kOk);
        expected[key] += value;
        break;
      default: {
        const auto answer = read(session, key);
        ASSERT_EQ(answer.status == Status::kOk, expected.contains(key)) << i;
        if (answer.status == Status::kOk) {
          ASSERT_EQ(answer.value, expected[key]) << i;
        }
      }
    }
    if (i % 64 == 0) session.refresh();
    if (i % 10'000 == 9'999) session.make_read_only();
  }
}

INSTANTIATE_TEST_SUITE_P(Places, StoreTest,
                         ::testing::Values(Places::kNever, Places::kAlways, Places::kAlternating));

// Several threads add to few keys while the log moves below them: no addition is lost.
TEST(Store, SumsAreExact) {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kKeys = 700, kAdditions = 30'000;
  const ScratchDirectory directory;
  Store store(small(), open_file(directory.path() / "log"));
  std::array<std::vector<std::uint64_t>, kThreads> added;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      added[i].resize(kKeys);
      threads.emplace_back([&store, &mine = added[i], i] {
        Client session(store);
        workload::Random random(i);
        const auto take = [&](std::uint64_t key, Session::Answer answer) {
          ASSERT_EQ(answer.status, Status::kOk);
          ++mine[key];
        };
        for (std::uint64_t n = 0; n < kAdditions; ++n) {
          const std::uint64_t key = random.next() % kKeys;
          const Status status = session.add(key, 1, key);
          if (status == Status::kOk) ++mine[key];
          if (n % 16 == 0) session.complete_pending(take);
          if (n % 4096 == 0) session.make_read_only();
        }
        while (session.complete_pending(take) > 0) std::this_thread::yield();
      });
    }
  }
  Client session(store);
  std::uint64_t all = 0;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    std::uint64_t expected = 0;
    for (const auto& mine : added) expected += mine[key];
    auto answer = session.read(key);
    while (session.complete_pending([&](auto, Session::Answer found) { answer = found; })) {
    }
    EXPECT_EQ(answer.value, expected) << key;
    all += expected;
  }
  EXPECT_EQ(all, kThreads * kAdditions);
  EXPECT_GT(store.log().head(), kFirstAddress);  // the device took part
}

TEST(Batches, DoTheirOperationsInOrderWhateverTheirSize) {
  Store store(small(16), std::make_unique<TestDevice>());
  Client session(store);
  for (std::size_t count : {0, 1, 2, 11, 12, 13, 16, 17, 23, 24, 25, 100}) {
    std::vector<std::size_t> seen;
    std::vector<std::uint64_t> before(count);
    for_each_of_batch(
        session, count, [](std::size_t i) { return i % 7; },
        [&](std::size_t i, Session::Place place) {
          seen.push_back(i);
          before[i] = session.Session::read(i % 7, 0, place).value;
          EXPECT_EQ(session.Session::upsert(i % 7, i + 1, place), Status::kOk);
        });
    ASSERT_EQ(seen.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(seen[i], i);
      if (i >= 7) {
        EXPECT_EQ(before[i], i - 6);  // what operation i - 7 has stored
      }
    }
  }
}

TEST(LogSettings, SaysWhatItExpects) {
  EXPECT_THROW((LogSettings{.page_bits = 11}.check()), std::invalid_argument);
  EXPECT_THROW((LogSettings{.page_bits = 31}.check()), std::invalid_argument);
  EXPECT_THROW((LogSettings{.pages = 3}.check()), std::invalid_argument);
  EXPECT_THROW((LogSettings{.mutable_share = 0}.check()), std::invalid_argument);
  EXPECT_THROW((LogSettings{.mutable_share = 1.1}.check()), std::invalid_argument);
  // FASTER's: 512 pages, nine tenths mutable.
  EXPECT_EQ(LogSettings().mutable_pages(), 460U);
  EXPECT_EQ((LogSettings{.pages = 4, .mutable_share = 1}.mutable_pages()), 2U);
  EXPECT_EQ((LogSettings{.pages = 4, .mutable_share = 0.01}.mutable_pages()), 1U);
}

}  // namespace
}  // namespace turntable::hybridlog
