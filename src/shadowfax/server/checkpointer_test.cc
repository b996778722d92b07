#include "shadowfax/server/checkpointer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/checkpoint_file.h"
#include "hybridlog/testing_client.h"

namespace turntable::shadowfax {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using hybridlog::testing::Client;

constexpr std::uint64_t kBuckets = 64;
// A record has 24 bytes; an index is written when the log has four times its buckets of 64.
constexpr std::uint64_t kEnough = kBuckets * 64 * 4 / 24 + 1;

hybridlog::StoreSettings small_store() {
  return {.index_buckets = kBuckets,
          .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
          .threads = 4,
          .reader_threads = 2};
}

class Checkpointers : public ::testing::Test {
 protected:
  std::string log() const { return directory_.path() / "log"; }
  std::string file() const { return directory_.path() / "checkpoint.json"; }
  std::vector<std::string> indexes() const {
    std::vector<std::string> found;
    for (const auto& each : fs::directory_iterator(directory_.path()))
      if (each.path().filename().string().find(".index-") != std::string::npos)
        found.push_back(each.path());
    return found;
  }

  ScratchDirectory directory_;
};

void store_keys(hybridlog::Store& store, std::uint64_t begin, std::uint64_t end) {
  Client session(store);
  for (std::uint64_t key = begin; key < end; ++key)
    ASSERT_EQ(session.upsert(key, key + 1), hybridlog::Status::kOk);
}

TEST_F(Checkpointers, TheIndexIsWrittenWhenTheLogIsSeveralTimesAsLarge) {
  std::ofstream(file() + ".index-7") << "of a crash";
  {
    hybridlog::Store store(small_store(), hybridlog::open_file(log()));
    Commits commits{hybridlog::Serials()};
    Checkpointer checkpointer(store, commits, file(), 1ms);
    store_keys(store, 0, kEnough / 2);
    const std::uint64_t made = checkpointer.counts().made;
    while (checkpointer.counts().made < made + 2) std::this_thread::yield();
    while (!indexes().empty()) std::this_thread::yield();
    store_keys(store, kEnough / 2, kEnough);
    while (!hybridlog::read_checkpoint(file())->index) std::this_thread::yield();
  }
  const auto checkpoint = hybridlog::read_checkpoint(file());
  EXPECT_EQ(indexes(), std::vector<std::string>{checkpoint->index->path});
  hybridlog::Store store(small_store(), hybridlog::open_file(log()), *checkpoint);
  EXPECT_EQ(store.recovered().why_not_index, "");
  EXPECT_GT(store.recovered().from, hybridlog::kFirstAddress + 24 * (kEnough / 2));
}

TEST_F(Checkpointers, AnOldIndexIsKeptUntilTheLogBehindItIsSeveralTimesAsLarge) {
  hybridlog::Store store(small_store(), hybridlog::open_file(log()));
  Commits commits{hybridlog::Serials()};
  store_keys(store, 0, kEnough);
  const auto old = store.write_index(file() + ".index-0");
  Checkpointer checkpointer(store, commits, file(), 1ms, old);
  const std::uint64_t made = checkpointer.counts().made;
  while (checkpointer.counts().made < made + 2) std::this_thread::yield();
  EXPECT_EQ(hybridlog::read_checkpoint(file())->index->path, old.path);
  // The file's size decides from now on.
  store_keys(store, 0, 4 * old.bytes / 24 + kEnough);
  while (hybridlog::read_checkpoint(file())->index->path == old.path) std::this_thread::yield();
  while (fs::exists(old.path)) std::this_thread::yield();
}

TEST_F(Checkpointers, NoneIsBegunWhileItWouldWait) {
  hybridlog::Store store(small_store(), hybridlog::open_file(log()));
  Commits commits;
  Checkpointer checkpointer(store, commits, file(), 1h);
  std::atomic<bool> is_dead{true};
  checkpointer.hold_while([] { return true; }, [&] { return is_dead.load(); });
  EXPECT_THROW(checkpointer.make(), std::system_error);
  EXPECT_EQ(store.versions().stable(), 0U);  // nobody was asked to take part
  EXPECT_FALSE(hybridlog::read_checkpoint(file()));
  is_dead = false;
  checkpointer.make();  // who asks for one waits for a server that is slow
  EXPECT_TRUE(hybridlog::read_checkpoint(file()));
}

// Whoever asks for one while records arrive would wait for these.
TEST_F(Checkpointers, NoneIsMadeWhileItIsPaused) {
  hybridlog::Store store(small_store(), hybridlog::open_file(log()));
  Commits commits;
  Checkpointer checkpointer(store, commits, file(), 1h);
  checkpointer.pause();
  EXPECT_THROW(checkpointer.make(), std::system_error);
  EXPECT_EQ(store.versions().stable(), 0U);
  EXPECT_FALSE(hybridlog::read_checkpoint(file()));
  checkpointer.resume();
  checkpointer.make();
  EXPECT_TRUE(hybridlog::read_checkpoint(file()));
}

// With an addition whose session has ended.
TEST_F(Checkpointers, SomeAreMadeWhileTheRecordsThatAreAwaitedAreGivenUp) {
  hybridlog::Store store(small_store(), hybridlog::open_file(log()));
  Commits commits;
  Checkpointer checkpointer(store, commits, file(), 1ms);
  checkpointer.pause();
  store.awaited().give_up_after(0ns);
  store.awaited().begin({}, store.log().tail());
  const auto made = [&] { return checkpointer.counts().made; };
  for (const auto before = made(); made() < before + 2;) std::this_thread::yield();
  EXPECT_THROW(checkpointer.make(), std::system_error);
  ASSERT_TRUE(store.awaited().leave({1, 5}));
  for (const auto before = made(); made() < before + 2;) std::this_thread::yield();
  const std::vector<hybridlog::Awaited::Addition> left = {{1, 5}};
  EXPECT_EQ(hybridlog::read_checkpoint(file()).value().left, left);
}

}  // namespace
}  // namespace turntable::shadowfax
