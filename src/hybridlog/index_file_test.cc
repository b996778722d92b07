#include "hybridlog/index_file.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/checkpoint_file.h"
#include "hybridlog/recovery.h"
#include "hybridlog/store.h"
#include "hybridlog/testing_client.h"

namespace turntable::hybridlog {
namespace {

using testing::Client;

constexpr std::uint64_t kStored = 1000;

StoreSettings small_settings() {
  return {.index_buckets = 64,
          .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
          .threads = 8,
          .reader_threads = 2};
}

class IndexFiles : public ::testing::Test {
 protected:
  std::unique_ptr<Store> begin(const StoreSettings& with = small_settings()) {
    auto device = open_file(directory_.path() / "log");
    if (const auto from = read_checkpoint(file()))
      return std::make_unique<Store>(with, std::move(device), *from);
    return std::make_unique<Store>(with, std::move(device));
  }
  std::string file() const { return directory_.path() / "checkpoint.json"; }
  std::string index() const { return directory_.path() / "checkpoint.json.index-1"; }

  static void store_all(Store& store, std::uint64_t times) {
    Client session(store);
    for (std::uint64_t key = 0; key < kStored; ++key) session.upsert(key, key * times);
  }
  static std::uint64_t value(Session& session, std::uint64_t key) {
    auto answer = session.read(key);
    while (session.complete_pending([&](auto, Session::Answer found) { answer = found; }))
      std::this_thread::yield();
    return answer.status == Status::kOk ? answer.value : UINT64_MAX;
  }
  static void expect_all(Store& store, std::uint64_t times) {
    Client session(store);
    for (std::uint64_t key = 0; key < kStored; ++key) ASSERT_EQ(value(session, key), key * times);
  }
  // Values are keys times 2, of which the first half is older than the index's file.
  void leave_with_an_index() {
    auto store = begin();
    store_all(*store, 2);
    const IndexFile made = store->write_index(index());
    {
      Client session(*store);
      for (std::uint64_t key = 0; key < kStored; key += 2) session.upsert(key, key * 2);
    }
    Checkpoint checkpoint = store->checkpoint();
    checkpoint.index = made;
    write_checkpoint(file(), checkpoint);
    store_all(*store, 3);  // is lost
  }

  ScratchDirectory directory_;
};

TEST_F(IndexFiles, OnlyWhatIsNewerIsReadOfTheLog) {
  leave_with_an_index();
  const auto store = begin();
  EXPECT_EQ(store->recovered().why_not_index, "");
  // 1000 records of 24 bytes lie below.
  EXPECT_GE(store->recovered().from, kFirstAddress + 24 * kStored);
  expect_all(*store, 2);
}

// A crash behind a checkpoint that has kept the file of the one before. Odd keys are in that alone.
TEST_F(IndexFiles, AnOlderOneServesLaterCheckpoints) {
  leave_with_an_index();
  for (std::uint64_t life = 3; life < 6; ++life) {
    auto store = begin();
    EXPECT_EQ(store->recovered().why_not_index, "");
    const auto before = read_checkpoint(file());
    {
      Client session(*store);
      for (std::uint64_t key = 0; key < kStored; key += 2) session.upsert(key, key * life);
    }
    Checkpoint checkpoint = store->checkpoint();
    checkpoint.index = before->index;
    write_checkpoint(file(), checkpoint);
    store_all(*store, 100);  // is lost
    store.reset();
    store = begin();
    Client session(*store);
    for (std::uint64_t key = 0; key < kStored; ++key)
      ASSERT_EQ(value(session, key), key * (key % 2 == 0 ? life : 2)) << "life " << life;
  }
}

TEST_F(IndexFiles, OneThatWasChangedIsNamedAndNotMissed) {
  leave_with_an_index();
  std::string good;
  {
    std::ifstream in(index(), std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); at += 197) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    std::ofstream(index(), std::ios::binary) << changed;
    const auto store = begin();
    expect_all(*store, 2);
    EXPECT_EQ(store->recovered().from, kFirstAddress) << at;
    EXPECT_NE(store->recovered().why_not_index.find(index()), std::string::npos) << at;
    ++refused;
  }
  EXPECT_GT(refused, 30U);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{30}, good.size() / 2, good.size() - 1}) {
    std::ofstream(index(), std::ios::binary) << good.substr(0, size);
    const auto store = begin();
    expect_all(*store, 2);
    EXPECT_NE(store->recovered().why_not_index, "") << size;
  }
  std::filesystem::remove(index());
  expect_all(*begin(), 2);
}

TEST_F(IndexFiles, AnotherNumberOfBucketsReadsTheWholeLog) {
  leave_with_an_index();
  StoreSettings other = small_settings();
  other.index_buckets = 128;
  const auto store = begin(other);
  EXPECT_EQ(store->recovered().why_not_index, index() + ": it has 64 buckets, the store 128");
  expect_all(*store, 2);
}

// Two chains would become one, which begins with the newest record of either and has no other of
// the other's.
TEST_F(IndexFiles, AnIndexWithFewerBucketsIsRefused) {
  leave_with_an_index();
  StoreSettings other = small_settings();
  other.index_buckets = 32;
  try {
    begin(other);
    FAIL() << "not refused";
  } catch (const RecoveryError& error) {
    EXPECT_STREQ(error.what(),
                 "checkpoint 1 has an index of 64 buckets; expected as many or more, not 32");
  }
}

// Its record lies below the file's `from`, and it comes into the index only after that was taken.
TEST_F(IndexFiles, WhoIsAppendingIsWaitedFor) {
  auto store = begin();
  for (std::uint64_t key = 0; key < 200; ++key) {
    Epoch::Thread thread(store->epoch());
    thread.protect();
    const HashIndex::Found found = store->index().find_or_make(hash_of(key));
    const Address address = *store->log().allocate(thread, sizeof(Record));
    auto writing = std::async(std::launch::async, [&] { return store->write_index(index()); });
    std::this_thread::yield();
    auto& record = *reinterpret_cast<Record*>(store->log().at(address));
    record.key = key;
    record.header = Header(found.entry.address(), 1).word();
    ASSERT_TRUE(found.replace(address));
    thread.unprotect();
    const IndexFile made = writing.get();
    HashIndex again(64);
    ASSERT_EQ(read_index(made, again), std::nullopt);
    const HashIndex::Found back = again.find(hash_of(key));
    ASSERT_TRUE(made.from <= address || (back && back.entry.address() >= address)) << key;
  }
}

// Additions by two threads, through many files, cuts and crashes; others are written in the first
// life alone, and one of them is deleted.
TEST_F(IndexFiles, SumsAreThoseOfTheCut) {
  std::vector<std::uint64_t> serials(3, 0);
  for (std::uint64_t life = 0; life < 6; ++life) {
    auto store = begin();
    {
      Client session(*store);
      std::uint64_t sum = 0;
      for (std::uint64_t key = 0; key < 64; ++key) {
        const std::uint64_t found = value(session, key);
        sum += found == UINT64_MAX ? 0 : found;
      }
      ASSERT_EQ(sum, serials[1] + serials[2]) << "life " << life;
      for (std::uint64_t key = 100; key < 400; ++key) {
        if (life == 0) {
          session.upsert(key, key);
          if (key == 200) session.erase(key);
        } else {
          ASSERT_EQ(value(session, key), key == 200 ? UINT64_MAX : key) << "life " << life;
        }
      }
    }
    std::atomic<bool> ends{false};
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 1; i <= 2; ++i) {
      threads.emplace_back([&, i] {
        Client session(*store, SessionId{1, i});
        while (!ends.load()) {
          for (int n = 0; n < 16; ++n) session.add((session.serial() * 7 + i) % 64, 1);
          session.complete_pending(
              [](auto, Session::Answer answer) { ASSERT_EQ(answer.status, Status::kOk); });
        }
      });
    }
    std::optional<IndexFile> made;
    for (int n = 0; n < 6; ++n) {
      if (n % 3 == 0) made = store->write_index(index() + std::to_string(n));
      Checkpoint checkpoint = store->checkpoint();
      checkpoint.index = made;
      write_checkpoint(file(), checkpoint);
      for (std::uint64_t i = 1; i <= 2; ++i) serials[i] = checkpoint.serials[SessionId{1, i}];
    }
    ends = true;
    threads.clear();
  }
}

}  // namespace
}  // namespace turntable::hybridlog
