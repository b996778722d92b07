// When a server's log is compacted, and when it must not be.

#include "shadowfax/server/compactor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/scratch_directory.h"
#include "hybridlog/checkpoint_file.h"
#include "hybridlog/testing_client.h"
#include "shadowfax/server/arrival.h"
#include "shadowfax/server/store_server.h"

namespace turntable::shadowfax {
namespace {

using hybridlog::Address;
using hybridlog::testing::Client;

constexpr std::uint64_t kPageBytes = 4096;

class CompactorTest : public ::testing::Test {
 protected:
  void fill() {
    Client client(store_);
    for (std::uint64_t key = 0; key < 10'000; ++key)
      ASSERT_EQ(client.upsert(key, key), hybridlog::Status::kOk);
  }
  template <typename Condition>
  static void wait_until(const Condition& condition) {
    while (!condition()) std::this_thread::yield();
  }

  ScratchDirectory directory_;
  hybridlog::Store store_{{.index_buckets = 256,
                           .log = {.page_bits = 12, .pages = 8, .mutable_share = 0.5},
                           .threads = 4,
                           .reader_threads = 2},
                          hybridlog::open_file(directory_.path() / "log")};
  CompactionGate gate_;
};

TEST_F(CompactorTest, AGateThatClosesStopsWhatIsUnderWayAndWaitsForIt) {
  const auto stop = gate_.enter();
  ASSERT_TRUE(stop.has_value());
  EXPECT_FALSE(stop->stop_requested());
  std::atomic<bool> is_closed{false};
  std::jthread closing([&] {
    gate_.close();
    is_closed = true;
  });
  wait_until([&] { return stop->stop_requested(); });
  EXPECT_FALSE(is_closed);
  gate_.leave();
  closing.join();
  EXPECT_FALSE(gate_.enter().has_value());
  gate_.close();
  gate_.open();
  EXPECT_FALSE(gate_.enter().has_value());  // the other one has not opened it
  gate_.open();
  const auto again = gate_.enter();
  ASSERT_TRUE(again.has_value());
  EXPECT_FALSE(again->stop_requested());
  gate_.leave();
}

TEST_F(CompactorTest, ALogIsCompactedOnceItIsTooLong) {
  fill();  // 240,000 bytes, all of them live
  const Compactor compactor(store_, gate_,
                            {.above_bytes = 16 * kPageBytes, .gives_back = true, .how = [] {
                               return hybridlog::CompactionSettings();
                             }});
  wait_until([&] { return compactor.counts().made > 0; });
  // The others are in memory that is still changed, or in the last page that was written.
  EXPECT_GE(compactor.counts().kept_records, 9000U);
  EXPECT_EQ(compactor.counts().freed_bytes, store_.log().begin() - hybridlog::kFirstAddress);
  EXPECT_EQ(compactor.counts().why, "");
}

TEST_F(CompactorTest, NotWhileTheGateIsClosedOrSomebodySaysSo) {
  fill();
  gate_.close();
  std::atomic<int> asked{0};
  std::atomic<bool> may{false};
  const auto how = [&]() -> std::optional<hybridlog::CompactionSettings> {
    if (++asked == 1) throw std::runtime_error("nobody knows");
    if (!may) return std::nullopt;
    return hybridlog::CompactionSettings();
  };
  const Compactor compactor(store_, gate_,
                            {.above_bytes = 16 * kPageBytes, .gives_back = true, .how = how});
  EXPECT_EQ(asked, 0);
  gate_.open();
  wait_until([&] { return asked == 2; });
  EXPECT_EQ(compactor.counts().failed, 1U);
  EXPECT_EQ(compactor.counts().why, "nobody knows");
  EXPECT_EQ(store_.log().begin(), hybridlog::kFirstAddress);
  may = true;
  wait_until([&] { return compactor.counts().made > 0; });
  EXPECT_EQ(compactor.counts().why, "");
}

TEST_F(CompactorTest, NotWhileARangeArrives) {
  Commits commits;
  Checkpointer checkpointer(store_, commits, directory_.path() / "checkpoint.json",
                            std::chrono::hours(1));
  Arrival arrival(store_, checkpointer, gate_);
  const auto is_open = [&] {
    const bool is = gate_.enter().has_value();
    if (is) gate_.leave();
    return is;
  };
  const Migration migration{.id = 1, .range = {0, 1000}, .receives_from = arrival.prepare()};
  EXPECT_TRUE(is_open());
  arrival.begin(migration);
  arrival.begin(migration);  // the state says so again
  EXPECT_FALSE(is_open());
  arrival.finish();
  EXPECT_FALSE(is_open());
  arrival.end();
  arrival.end();
  arrival.begin(migration);  // an old state
  EXPECT_TRUE(is_open());
}

// A chain of the range may end between where it is received from and where the log begins by then.
TEST_F(CompactorTest, ARangeArrivesInALogThatWasCompactedSince) {
  Commits commits;
  Checkpointer checkpointer(store_, commits, directory_.path() / "checkpoint.json",
                            std::chrono::hours(1));
  Arrival arrival(store_, checkpointer, gate_);
  const Address from = arrival.prepare();
  fill();
  checkpointer.make();
  hybridlog::Compaction(store_, {.is_wanted = [](std::uint64_t) { return false; }}).run();
  ASSERT_GT(store_.log().begin(), from + 40 * kPageBytes);
  arrival.begin({.id = 1, .range = {}, .receives_from = from});
  {
    Client client(store_);
    EXPECT_EQ(client.read(1).status, hybridlog::Status::kPending);  // not: it is not there
    EXPECT_EQ(client.take(1, hybridlog::bytes_of(7), false), hybridlog::Status::kOk);
    hybridlog::Session::Answer answer{hybridlog::Status::kPending};
    while (client.complete_pending([&](auto, auto told) { answer = told; }) > 0)
      std::this_thread::yield();
    EXPECT_EQ(answer.value, 7U);
  }
  arrival.finish();
  arrival.end();
}

// Recovery would write over what the first server has flushed since its checkpoint.
TEST(CompactingServer, ALogThatAServerHasIsNobodyElses) {
  const ScratchDirectory directory;
  const StoreServer::Settings settings{
      .store = {.index_buckets = 256, .log = {.page_bits = 12, .pages = 8}, .threads = 1},
      .file = directory.path() / "log",
      .checkpoints = {{.file = directory.path() / "checkpoint.json"}}};
  {
    const StoreServer first(settings);
    try {
      const StoreServer second(settings);
      FAIL();
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find("is the log of a server that runs"),
                std::string::npos);
    }
  }
  const StoreServer after(settings);
}

// A crash after compactions that no checkpoint has covered: the last one's pages are all there.
TEST(CompactingServer, GivesNothingBackThatTheLastCheckpointNeeds) {
  constexpr std::uint64_t kStored = 10'000;
  const ScratchDirectory directory;
  const std::string file = directory.path() / "checkpoint.json";
  StoreServer::Settings settings{
      .store = {.index_buckets = 256,
                .log = {.page_bits = 12, .pages = 8, .mutable_share = 0.5},
                .threads = 1,
                .reader_threads = 2},
      .file = directory.path() / "log",
      .checkpoints = {{.file = file, .interval = std::chrono::hours(1)}},
      .compact_above_bytes = 16 * kPageBytes};
  {
    StoreServer server(settings);
    const auto store_all = [&](std::uint64_t more) {
      Client client(server.store());
      for (std::uint64_t key = 0; key < kStored; ++key)
        ASSERT_EQ(client.upsert(key, key + more), hybridlog::Status::kOk);
    };
    store_all(0);
    hybridlog::write_checkpoint(file, server.store().checkpoint());
    const auto before = server.compactions().made;
    for (std::uint64_t more = 1; server.compactions().made < before + 2; ++more) store_all(more);
    std::filesystem::copy_file(settings.file, settings.file + " at the crash");
  }
  hybridlog::Store store(settings.store, hybridlog::open_file(settings.file + " at the crash"),
                         *hybridlog::read_checkpoint(file));
  Client client(store);
  for (std::uint64_t key = 0; key < kStored; ++key) {
    auto answer = client.read(key);
    while (client.complete_pending([&](auto, auto told) { answer = told; }) > 0)
      std::this_thread::yield();
    ASSERT_EQ(answer.status, hybridlog::Status::kOk) << key;
    ASSERT_EQ(answer.value, key);
  }
}

}  // namespace
}  // namespace turntable::shadowfax
