// The measurement window of an iteration, on CLOCK_MONOTONIC.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace turntable::kv {

// Set once by a control thread and read by a worker; empty until then.
class Window {
 public:
  void set(std::int64_t from_ns, std::int64_t until_ns) noexcept {
    until_ns_.store(until_ns, std::memory_order_relaxed);
    from_ns_.store(from_ns, std::memory_order_release);
  }

  bool contains(std::int64_t at_ns) const noexcept { return from() <= at_ns && at_ns < until(); }

  // How much of [begin_ns, end_ns) lies inside.
  std::int64_t overlap_ns(std::int64_t begin_ns, std::int64_t end_ns) const noexcept {
    return std::max<std::int64_t>(0, std::min(end_ns, until()) - std::max(begin_ns, from()));
  }

 private:
  std::int64_t from() const noexcept { return from_ns_.load(std::memory_order_acquire); }
  std::int64_t until() const noexcept { return until_ns_.load(std::memory_order_relaxed); }

  std::atomic<std::int64_t> from_ns_{INT64_MAX};
  std::atomic<std::int64_t> until_ns_{INT64_MIN};
};

}  // namespace turntable::kv
