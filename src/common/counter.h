// A statistic that one thread counts and any thread may read.
#pragma once

#include <atomic>
#include <cstdint>

namespace turntable {

class Counter {
 public:
  // Only by the owning thread: a plain load and store, no locked instruction.
  void add(std::int64_t amount = 1) noexcept {
    value_.store(get() + amount, std::memory_order_relaxed);
  }
  void raise_to(std::int64_t value) noexcept {
    if (value > get()) value_.store(value, std::memory_order_relaxed);
  }

  std::int64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

}  // namespace turntable
