// Nanosecond clocks. Intervals are measured on CLOCK_MONOTONIC; instants agreed between machines
// are CLOCK_REALTIME.
#pragma once

#include <time.h>

#include <cstdint>

namespace turntable::kv {

inline std::int64_t read_clock_ns(clockid_t clock) noexcept {
  timespec t;
  ::clock_gettime(clock, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

inline std::int64_t monotonic_ns() noexcept {
  return read_clock_ns(CLOCK_MONOTONIC);
}
inline std::int64_t realtime_ns() noexcept {
  return read_clock_ns(CLOCK_REALTIME);
}

// What to add now to a CLOCK_REALTIME instant to have it on CLOCK_MONOTONIC. Exact to the time
// between two clock readings; valid until CLOCK_REALTIME is set.
inline std::int64_t realtime_to_monotonic_ns() noexcept {
  const std::int64_t before = monotonic_ns();
  const std::int64_t real = realtime_ns();
  return before + (monotonic_ns() - before) / 2 - real;
}

inline timespec to_timespec(std::int64_t ns) noexcept {
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace turntable::kv
