// Calls at points in time, for code that runs in an event loop.
#pragma once

#include <cstdint>
#include <functional>

namespace turntable::net {

class Timers {
 public:
  using TimerId = std::uint64_t;

  virtual ~Timers() = default;

  virtual std::int64_t now_ns() const = 0;  // CLOCK_MONOTONIC, or a test's own time

  // Calls once, on the loop's thread, at or after `at_ns`; never from within call_at.
  virtual TimerId call_at(std::int64_t at_ns, std::function<void()> call) = 0;
  virtual void cancel(TimerId id) = 0;  // of a call that has been made: nothing

  // As soon as what runs now has returned.
  TimerId call_soon(std::function<void()> call) { return call_at(now_ns(), std::move(call)); }
};

}  // namespace turntable::net
