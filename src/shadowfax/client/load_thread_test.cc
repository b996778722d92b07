#include "shadowfax/client/load_thread.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/scratch_directory.h"
#include "hybridlog/key_hash.h"
#include "shadowfax/client/fill.h"
#include "shadowfax/server/store_server.h"

namespace turntable::shadowfax {
namespace {

constexpr std::uint64_t kKeys = 5000;

TEST(RequestSource, DrawsTheMixAndOnlyKeysThatThereAre) {
  constexpr int kDraws = 100'000;
  RequestSource source({.mix = {.read = 0.5, .upsert = 0.3, .add = 0.2}, .keys = 10}, 0);
  std::array<int, 5> kinds{};
  std::array<int, 10> keys{};
  for (int i = 0; i < kDraws; ++i) {
    const Request request = source.next();
    ++kinds.at(static_cast<std::size_t>(request.opcode));
    ++keys.at(request.key);
  }
  // Five standard deviations of a binomial count: 5 * sqrt(1e5 * p * (1 - p)).
  EXPECT_NEAR(kinds[1], 50'000, 791);
  EXPECT_NEAR(kinds[2], 30'000, 725);
  EXPECT_NEAR(kinds[3], 20'000, 633);
  for (const int count : keys) EXPECT_NEAR(count, 10'000, 475);
}

TEST(RequestSource, ThreadsDrawOtherKeys) {
  RequestSource one({.keys = 1'000'000'000}, 0), other({.keys = 1'000'000'000}, 1);
  EXPECT_NE(one.next().key, other.next().key);
}

class LoadThreadTest : public ::testing::Test {
 protected:
  // Two servers of two workers.
  LoadThreadTest() {
    for (int i = 0; i < 2; ++i) {
      servers_.push_back(std::make_unique<StoreServer>(StoreServer::Settings{
          .store = {.index_buckets = 1024,
                    .log = {.page_bits = 12, .pages = 8, .mutable_share = 0.5},
                    .threads = 1,
                    .reader_threads = 2},
          .file = directory_.path() / std::to_string(i),
          .worker = {},
          .workers = 2}));
      addresses_.push_back({.address = "127.0.0.1", .ports = servers_.back()->ports()});
    }
    fill({.servers = {addresses_}, .threads = 2, .keys = kKeys}, monotonic_ns() + 60 * kSecondNs,
         cancelled_);
  }

  LoadSettings settings() const {
    return {
        .servers = {addresses_}, .threads = 2, .batching = {.batch_requests = 50}, .keys = kKeys};
  }

  static std::vector<ThreadResult> play(const LoadSettings& settings) {
    std::vector<std::unique_ptr<LoadThread>> threads;
    for (unsigned i = 0; i < settings.threads; ++i)
      threads.push_back(std::make_unique<LoadThread>(settings, i));
    const std::int64_t now_ns = monotonic_ns();
    const load::Schedule schedule{.start_ns = now_ns,
                                  .window_from_ns = now_ns + 50 * kMillisecondNs,
                                  .window_until_ns = now_ns + 350 * kMillisecondNs,
                                  .drain_until_ns = now_ns + 60 * kSecondNs};
    for (const auto& thread : threads) thread->set_schedule(schedule);
    std::vector<std::jthread> running;
    running.reserve(threads.size());
    for (const auto& thread : threads) running.emplace_back([&thread] { thread->run(); });
    running.clear();
    std::vector<ThreadResult> results;
    results.reserve(threads.size());
    for (const auto& thread : threads) results.push_back(thread->result());
    return results;
  }

  // Over the keys that a server owns; those of others it must not have.
  std::uint64_t sum_at(std::size_t server) {
    hybridlog::Store& store = servers_[server]->store();
    hybridlog::Epoch::Thread thread(store.epoch());
    thread.protect();
    hybridlog::Session session(store, thread);
    std::uint64_t sum = 0;
    const auto take = [&](std::uint64_t key, hybridlog::Session::Answer answer) {
      const bool owned = View::equal(2).owner_of(hybridlog::hash_of(key)) == server;
      EXPECT_EQ(answer.status, owned ? hybridlog::Status::kOk : hybridlog::Status::kNotFound);
      sum += answer.value;
    };
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const auto answer = session.read(key, key);
      if (answer.status != hybridlog::Status::kPending) take(key, answer);
      while (session.pending() > 0) session.complete_pending(take);
    }
    return sum;
  }

  ScratchDirectory directory_;
  std::vector<std::unique_ptr<StoreServer>> servers_;
  std::vector<ServerAddress> addresses_;
  const std::atomic<bool> cancelled_{false};
};

TEST_F(LoadThreadTest, FullPipelinesAtTwoServers) {
  const std::vector<ThreadResult> results = play(settings());
  LoadStatistics all;
  for (const ThreadResult& result : results) all.merge(result.load);
  EXPECT_EQ(all.lost_sessions, 0U) << all.lost_why;
  EXPECT_GT(all.operations(), 0U);
  EXPECT_EQ(all.operations(), all.adds);
  EXPECT_EQ(all.unanswered_total, 0U);
  EXPECT_EQ(all.adds_issued_total, all.adds_acknowledged_total);
  EXPECT_EQ(sum_at(0) + sum_at(1), all.adds_acknowledged_total);
  ASSERT_EQ(all.samples.size(), 1U);
  EXPECT_EQ(all.samples[0].operations, all.operations());
  EXPECT_EQ(all.samples[0].by_server.at(0) + all.samples[0].by_server.at(1), all.operations());
  EXPECT_GT(all.samples[0].by_server[0], all.operations() / 4);
}

TEST_F(LoadThreadTest, EveryKeyOfAFileIsAnswered) {
  const std::array<std::uint64_t, 3> keys{UINT64_MAX, 0, UINT64_MAX - 1};
  const std::filesystem::path path = directory_.path() / "keys";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(keys.data()), sizeof keys);
  const auto file = std::make_shared<const KeyFile>(path);
  EXPECT_EQ(fill({.servers = {addresses_}, .threads = 2, .keys = keys.size(), .file = file},
                 monotonic_ns() + 20 * kSecondNs, cancelled_),
            keys.size());
  LoadSettings load = settings();
  load.txns_file = file;
  LoadStatistics all;
  for (const ThreadResult& result : play(load)) all.merge(result.load);
  EXPECT_GT(all.operations(), 0U);
  EXPECT_EQ(all.unanswered_total, 0U);
  EXPECT_EQ(all.adds_issued_total, all.adds_acknowledged_total);
}

TEST_F(LoadThreadTest, AnOpenLoopSendsWhatItsInstantsSay) {
  LoadSettings open = settings();
  open.rate_per_s = 20'000;
  open.mix = {.read = 0.5, .upsert = 0, .add = 0.5};
  const std::vector<ThreadResult> results = play(open);
  std::int64_t offered = 0;
  LoadStatistics all;
  for (const ThreadResult& result : results) {
    ASSERT_TRUE(result.open_loop);
    offered += result.open_loop->offered;
    EXPECT_EQ(result.open_loop->latency_ns.count(),
              static_cast<std::uint64_t>(result.open_loop->offered));
    EXPECT_EQ(result.open_loop->lost + result.open_loop->unsent, 0);
    all.merge(result.load);
  }
  // 0.3 s of a Poisson process of 20,000/s, within five standard deviations.
  EXPECT_NEAR(static_cast<double>(offered), 6000, 5 * 77.5);
  EXPECT_EQ(sum_at(0) + sum_at(1), all.adds_acknowledged_total);
}

TEST_F(LoadThreadTest, AServerThatGoesIsNoResult) {
  std::vector<std::unique_ptr<LoadThread>> threads;
  threads.push_back(std::make_unique<LoadThread>(settings(), 0));
  servers_.pop_back();
  const std::int64_t now_ns = monotonic_ns();
  threads[0]->set_schedule({.start_ns = now_ns,
                            .window_from_ns = now_ns,
                            .window_until_ns = now_ns + 50 * kMillisecondNs,
                            .drain_until_ns = now_ns + kSecondNs});
  threads[0]->run();
  EXPECT_EQ(threads[0]->result().load.lost_sessions, 1U);
  EXPECT_FALSE(threads[0]->result().load.lost_why.empty());
}

TEST_F(LoadThreadTest, FillStoresEachKeyOnce) {
  EXPECT_EQ(sum_at(0) + sum_at(1), 0U);
  EXPECT_EQ(fill({.servers = {addresses_}, .threads = 2, .keys = 100, .client = 2, .clients = 3},
                 monotonic_ns() + 60 * kSecondNs, cancelled_),
            33U);  // 2, 5, …, 98
}

TEST_F(LoadThreadTest, FillEndsAtItsDeadline) {
  const std::atomic<bool> cancelled{true};
  EXPECT_THROW(fill({.servers = {addresses_}, .threads = 2, .keys = 100},
                    monotonic_ns() + 60 * kSecondNs, cancelled),
               std::runtime_error);
  EXPECT_THROW(fill({.servers = {addresses_}, .threads = 2, .keys = 1'000'000}, monotonic_ns() - 1,
                    cancelled_),
               std::runtime_error);
}

}  // namespace
}  // namespace turntable::shadowfax
