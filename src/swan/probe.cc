#include "swan/probe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>

#include "common/clock.h"
#include "swan/kernels.h"
#include "swan/process_settings.h"

namespace turntable::swan {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kStreamBytes = 128U << 20U;
constexpr std::uint64_t kSlice = 20'000;  // steps between two looks at the clock
// Where a buffer's pages happen to lie, and what the machine's other guests do for a moment, only
// ever make it slower: the best pass is what the machine can show.
constexpr std::size_t kPasses = 3;
constexpr std::size_t kWarmLines = (4U << 20U) / kLineBytes;

// Runs a kernel on another processor for as long as it lives.
class Beside {
 public:
  // Throws as pin() does.
  Beside(int cpu, Kernel& kernel) {
    std::promise<void> promise;
    std::future<void> pinned = promise.get_future();
    thread_ = std::thread([this, cpu, &kernel, promise = std::move(promise)]() mutable {
      try {
        pin(0, {cpu});
      } catch (...) {
        promise.set_exception(std::current_exception());
        return;
      }
      promise.set_value();
      while (!stop_.load(std::memory_order_relaxed)) {
        kernel.steps(kSlice);
        running_ = true;
        running_.notify_one();
      }
    });
    try {
      pinned.get();
    } catch (...) {
      thread_.join();
      throw;
    }
    running_.wait(false);
  }
  ~Beside() {
    stop_ = true;
    thread_.join();
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::atomic<bool> running_{false};
  std::thread thread_;
};

// Of `work`, which does so many steps at a call. By this thread's processor time: that others had
// the processor for a while is no property of the machine.
template <typename Work>
double ns_per_step(double seconds, const Work& work) {
  const std::int64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
  std::uint64_t done = 0;
  while (monotonic_ns() < end || done == 0) done += work(kSlice);
  return static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / static_cast<double>(done);
}

// Of rows that are alike but for their value: a time, or a rate.
Json best_row(std::array<Json, kPasses> rows) {
  const auto value = [](const Json& row) {
    if (row.contains("ns_per_step")) return -row["ns_per_step"].get<double>();
    return row.at(row.contains("gb_per_s") ? "gb_per_s" : "per_us").get<double>();
  };
  return std::move(*std::ranges::max_element(rows, {}, value));
}

std::int64_t cache_kib(const Topology& topology, const char* name, std::int64_t otherwise) {
  const auto found = topology.cache_kib.find(name);
  return found == topology.cache_kib.end() || found->second <= 0 ? otherwise : found->second;
}

// The last cache that is a processor's own: beyond it, others of the machine have a part.
std::int64_t own_cache_kib(const Topology& topology) {
  return cache_kib(topology, "l2", 1024);
}

std::set<std::int64_t> chase_sizes_kib(const Topology& topology, std::size_t size_mb) {
  const std::int64_t own = own_cache_kib(topology);
  const auto largest = static_cast<std::int64_t>(size_mb) << 10;
  std::set<std::int64_t> sizes = {cache_kib(topology, "l1d", 32) / 2, own / 2, own * 2, largest / 4,
                                  largest};
  std::erase_if(sizes, [&](std::int64_t kib) { return kib <= 0 || kib > largest; });
  return sizes;
}

class Prober {
 public:
  Prober(const Topology& topology, const ProbeRequest& request)
      : topology_(topology), request_(request), stream_(stream(kStreamBytes)) {
    if (request.beside) other_stream_ = stream(kStreamBytes);
  }

  // On a thread of its own, which may be pinned.
  Json run() {
    pin(0, {request_.cpu});
    std::array<Json, kPasses> passes;
    for (Json& rows : passes) rows = pass();
    Json best = Json::array();
    for (std::size_t row = 0; row < passes[0].size(); ++row)
      best.push_back(best_row({passes[0][row], passes[1][row], passes[2][row]}));
    return {{"rows", std::move(best)}};
  }

 private:
  Json pass() {
    rows_ = Json::array();
    for (const std::int64_t kib : chase_sizes_kib(topology_, request_.size_mb)) chase(kib);
    copy();
    count();
    return std::move(rows_);
  }

  template <typename Measure>
  void alone_and_beside(const char* what, Kernel* other, const Measure& measure) {
    rows_.push_back(measure(Json(nullptr)));
    if (!request_.beside) return;
    const Beside beside(*request_.beside, *other);
    rows_.push_back(measure(Json{{"what", what}, {"cpu", *request_.beside}}));
  }

  void chase(std::int64_t kib) {
    Chase ring(static_cast<std::size_t>(kib) << 10U, 1);
    const auto work = [&](std::uint64_t count) {
      ring.steps(count);
      return count;
    };
    alone_and_beside("stream", other_stream_.get(), [&](Json beside) -> Json {
      if (ring.lines() <= kWarmLines) ring.steps(ring.lines());
      return {{"what", "chase"},
              {"size_kib", kib},
              {"cpu", request_.cpu},
              {"beside", std::move(beside)},
              {"shared", kib > own_cache_kib(topology_)},
              {"ns_per_step", ns_per_step(request_.seconds, work)}};
    });
  }

  void copy() {
    alone_and_beside("stream", other_stream_.get(), [&](Json beside) -> Json {
      const double ns =
          ns_per_step(request_.seconds, [&](std::uint64_t count) { return stream_->steps(count); });
      return {{"what", "stream"},
              {"cpu", request_.cpu},
              {"beside", std::move(beside)},
              {"shared", true},
              {"gb_per_s", static_cast<double>(kLineBytes) / ns}};
    });
  }

  void count() {
    const auto own = integers();
    const auto other = integers();
    alone_and_beside("integer", other.get(), [&](Json beside) -> Json {
      const double ns =
          ns_per_step(request_.seconds, [&](std::uint64_t count) { return own->steps(count); });
      return {{"what", "integer"},
              {"cpu", request_.cpu},
              {"beside", std::move(beside)},
              {"shared", false},
              {"per_us", 1000 / ns}};
    });
  }

  const Topology& topology_;
  const ProbeRequest& request_;
  std::unique_ptr<Kernel> stream_, other_stream_;
  Json rows_ = Json::array();
};

}  // namespace

Json probe(const Topology& topology, const ProbeRequest& request) {
  Prober prober(topology, request);
  Json answer;
  std::exception_ptr failure;
  std::thread thread([&] {
    try {
      answer = prober.run();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  thread.join();
  if (failure) std::rethrow_exception(failure);
  return answer;
}

}  // namespace turntable::swan
