// The measurement window of an iteration, on CLOCK_MONOTONIC.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace turntable::load {

// Set once by a control thread and read by a worker; empty until then.
class Window {
 public:
  void set(std::int64_t from_ns, std::int64_t until_ns) noexcept {
    from_ns_.store(from_ns, std::memory_order_relaxed);
    until_ns_.store(until_ns, std::memory_order_release);  // last: it opens the window
  }

  bool contains(std::int64_t at_ns) const noexcept { return overlap_ns(at_ns, at_ns + 1) == 1; }

  // How much of [begin_ns, end_ns) lies inside.
  std::int64_t overlap_ns(std::int64_t begin_ns, std::int64_t end_ns) const noexcept {
    const std::int64_t until_ns = until_ns_.load(std::memory_order_acquire);
    const std::int64_t from_ns = from_ns_.load(std::memory_order_relaxed);
    return std::max<std::int64_t>(0, std::min(end_ns, until_ns) - std::max(begin_ns, from_ns));
  }

 private:
  std::atomic<std::int64_t> from_ns_{0};
  std::atomic<std::int64_t> until_ns_{0};
};

}  // namespace turntable::load
