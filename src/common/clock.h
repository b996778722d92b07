// Nanoseconds of the system's clocks. Intervals are measured on CLOCK_MONOTONIC; instants agreed
// between machines are CLOCK_REALTIME.
#pragma once

#include <cstdint>
#include <ctime>

namespace turntable {

inline std::int64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t realtime_ns() noexcept {
  return clock_ns(CLOCK_REALTIME);
}
inline std::int64_t monotonic_ns() noexcept {
  return clock_ns(CLOCK_MONOTONIC);
}

// What to add now to a CLOCK_REALTIME instant to have it on CLOCK_MONOTONIC. Exact to the time
// between two clock readings; valid until CLOCK_REALTIME is set.
inline std::int64_t realtime_to_monotonic_ns() {
  const std::int64_t before = monotonic_ns();
  const std::int64_t real = realtime_ns();
  return before + (monotonic_ns() - before) / 2 - real;
}

inline timespec to_timespec(std::int64_t ns) {
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace turntable
