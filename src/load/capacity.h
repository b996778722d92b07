// The capacity of a logical server: a FIFO service time of 1/c per operation in virtual time.
//
//   start_i  = max(finish_{i-1}, arrival_i)
//   finish_i = start_i + time operation i was held back + max(1/c, time the worker was busy with
//   it)
//
// The answer to operation i leaves at finish_i, not before. This is no token bucket: an idle server
// accrues nothing, so no window of length T ever holds more than c T + 1 operations.
//
// Arrival is when the packet reached the socket, so a worker that wakes up late starts its next
// operation in the past and catches up: scheduling delay costs no capacity. At most kMaxCatchUp is
// caught up; what lies further back is lost and counted, because a burst after a long gap would not
// be a server running at c. A store that holds the worker up (load/busy_timer.h) makes the service
// time longer, and that cannot be caught up.
//
// All times are nanoseconds of one clock. Not thread-safe; the caller reads the clock.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace turntable::load {

class FifoCapacity {
 public:
  static constexpr std::int64_t kMaxCatchUpNs = 5'000'000;

  struct Service {
    std::int64_t start_ns;
    std::int64_t finish_ns;
  };

  // 0: no limit (operations finish when they have been executed).
  explicit FifoCapacity(double operations_per_second = 0)
      : service_ns_(operations_per_second > 0 ? std::llround(1e9 / operations_per_second) : 0) {}

  bool limited() const noexcept { return service_ns_ > 0; }
  std::int64_t service_ns() const noexcept { return service_ns_; }

  // The start of the next operation, which arrived at `arrival_ns` and is taken up at `now_ns`.
  std::int64_t begin(std::int64_t arrival_ns, std::int64_t now_ns) noexcept {
    if (!limited()) return start_ns_ = now_ns;
    start_ns_ = std::max(finish_ns_, std::min(arrival_ns, now_ns));
    const std::int64_t earliest = now_ns - kMaxCatchUpNs;
    if (start_ns_ < earliest) {
      lost_ns_ += earliest - start_ns_;
      start_ns_ = earliest;
    }
    return start_ns_;
  }

  // Ends the operation begun last, which kept the worker busy for `busy_ns` after something else
  // had held it back for `held_back_ns`: what blocks a worker blocks the operations behind.
  Service end(std::int64_t busy_ns, std::int64_t held_back_ns = 0) noexcept {
    finish_ns_ = start_ns_ + held_back_ns + std::max(service_ns_, busy_ns);
    return {start_ns_, finish_ns_};
  }

  // Capacity lost to scheduling delays longer than kMaxCatchUpNs.
  std::int64_t lost_ns() const noexcept { return lost_ns_; }

 private:
  std::int64_t service_ns_;
  std::int64_t start_ns_ = 0;
  std::int64_t finish_ns_ = 0;
  std::int64_t lost_ns_ = 0;
};

}  // namespace turntable::load
