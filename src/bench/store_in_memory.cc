// store-in-memory: additions to uniformly drawn keys, in batches, without a network: what a store's
// library does alone.
//
//   store-in-memory --store hybridlog|map --keys 10000000 --threads 1 --seconds 3
//
// Prints one line of JSON: additions per second, and whether the sum of all values is that of the
// additions.
#include <array>
#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/clock.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "common/scratch_directory.h"
#include "hybridlog/batch.h"
#include "hybridlog/store.h"
#include "workload/random.h"

namespace turntable::bench {
namespace {

constexpr std::size_t kBatch = 1926;  // operations of 17 bytes in 32 KiB

struct Options {
  std::string store = "hybridlog";
  std::uint64_t keys = 10'000'000;
  unsigned threads = 1;
  double seconds = 3;
};

class HybridLog {
 public:
  explicit HybridLog(const Options& options)
      : store_({.index_buckets = std::bit_ceil(options.keys / 4),
                .log = {.page_bits = 22,
                        .pages = std::max<std::size_t>(8, options.keys * 24 / (4U << 20U) * 5 / 4),
                        .mutable_share = 0.9}},
               hybridlog::open_file(directory_.path() / "log")) {}

  class Client {
   public:
    explicit Client(HybridLog& log) : thread_(log.store_.epoch()), session_(log.store_, thread_) {
      thread_.protect();
    }

    void add(const std::array<std::uint64_t, kBatch>& keys) {
      hybridlog::for_each_of_batch(
          session_, kBatch, [&](std::size_t i) { return keys[i]; },
          [&](std::size_t i, hybridlog::Session::Place place) {
            session_.add(keys[i], 1, 0, place);
          });
      session_.complete_pending([](auto...) {});
    }
    std::uint64_t value(std::uint64_t key) { return session_.read(key).value; }

   private:
    hybridlog::Epoch::Thread thread_;
    hybridlog::Session session_;
  };

 private:
  ScratchDirectory directory_;
  hybridlog::Store store_;
};

// A yardstick: what the standard library and a lock give.
class LockedMap {
 public:
  explicit LockedMap(const Options& options) { map_.reserve(options.keys); }

  class Client {
   public:
    explicit Client(LockedMap& map) : map_(map) {}

    void add(const std::array<std::uint64_t, kBatch>& keys) {
      for (const std::uint64_t key : keys) {
        const std::lock_guard lock(map_.mutex_);
        ++map_.map_[key];
      }
    }
    std::uint64_t value(std::uint64_t key) { return map_.map_[key]; }

   private:
    LockedMap& map_;
  };

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> map_;
};

template <typename Store>
nlohmann::json measure(const Options& options) {
  Store store(options);
  {
    typename Store::Client client(store);
    std::array<std::uint64_t, kBatch> keys;
    for (std::uint64_t next = 0; next < options.keys;) {
      for (std::uint64_t& key : keys) key = next++ % options.keys;
      client.add(keys);
    }
  }
  std::atomic<bool> begins{false}, ends{false};
  std::atomic<std::uint64_t> added{0};
  std::int64_t began_ns = 0, ended_ns = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < options.threads; ++i) {
      threads.emplace_back([&, i] {
        typename Store::Client client(store);
        workload::Random random(i + 1);
        std::array<std::uint64_t, kBatch> keys;
        std::uint64_t own = 0;
        begins.wait(false);
        while (!ends.load(std::memory_order_relaxed)) {
          // As a multiplication: a division would be what is measured.
          for (std::uint64_t& key : keys)
            key = static_cast<std::uint64_t>((__uint128_t{random.next()} * options.keys) >> 64U);
          client.add(keys);
          own += kBatch;
        }
        added += own;
      });
    }
    began_ns = monotonic_ns();
    begins = true;
    begins.notify_all();
    // waits: for the time that is measured
    std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
    ends = true;
  }
  ended_ns = monotonic_ns();
  typename Store::Client client(store);
  std::uint64_t sum = 0;
  for (std::uint64_t key = 0; key < options.keys; ++key) sum += client.value(key);
  const std::uint64_t filled = (options.keys + kBatch - 1) / kBatch * kBatch;
  const double seconds = static_cast<double>(ended_ns - began_ns) / 1e9;
  return {{"additions_per_s", static_cast<double>(added) / seconds},
          {"sum_is_right", sum == filled + added}};
}

int run(int argc, char** argv) {
  Options options;
  ProgramOptions app("store-in-memory", "What a store's library does without a network");
  app.option("--store", options.store, "Which").one_of({"hybridlog", "map"}).shows_default();
  app.option("--keys", options.keys, "How many").within(1, 1e10).shows_default();
  app.option("--threads", options.threads, "How many add").within(1, 1024).shows_default();
  app.option("--seconds", options.seconds, "Of adding").within(0.01, 3600).shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  std::cout << (options.store == "map" ? measure<LockedMap>(options) : measure<HybridLog>(options))
            << std::endl;
  return 0;
}

}  // namespace
}  // namespace turntable::bench

int main(int argc, char** argv) {
  return turntable::run_main("store-in-memory", [&] { return turntable::bench::run(argc, argv); });
}
