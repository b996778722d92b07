// A point in time (CLOCK_MONOTONIC) up to which something is waited for.
#pragma once

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>

namespace turntable {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline never() { return Deadline(Clock::time_point::max()); }
  static Deadline after(std::chrono::nanoseconds wait) { return Deadline(Clock::now() + wait); }
  static Deadline after_seconds(double seconds) {
    constexpr double kYear = 365.0 * 24 * 3600;  // beyond it the conversion could overflow
    if (seconds > kYear) return never();
    return after(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
  }

  bool is_never() const { return at_ == Clock::time_point::max(); }
  bool passed() const { return !is_never() && Clock::now() >= at_; }

  Clock::time_point time_point() const { return at_; }

  // The earlier of two deadlines.
  Deadline min(Deadline other) const { return Deadline(std::min(at_, other.at_)); }

  // For poll(2) and epoll_wait(2): -1 is for ever; rounded up, so that a wait does not end too
  // early.
  int poll_timeout_ms() const {
    if (is_never()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
  }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace turntable
