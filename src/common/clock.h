// Nanoseconds of the system's clocks. Intervals are measured on CLOCK_MONOTONIC; instants agreed
// between machines are CLOCK_REALTIME.
#pragma once

#include <cstdint>
#include <ctime>

namespace turntable {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;
inline constexpr std::int64_t kMillisecondNs = 1'000'000;

inline std::int64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * kSecondNs + now.tv_nsec;
}

inline std::int64_t realtime_ns() noexcept {
  return clock_ns(CLOCK_REALTIME);
}
inline std::int64_t monotonic_ns() noexcept {
  return clock_ns(CLOCK_MONOTONIC);
}

// realtime_to_monotonic_ns() below, of clocks that the caller reads. A thread that was interrupted
// between its readings cannot tell when the second one was: so it reads again, and believes the
// readings that are closest together.
template <typename Monotonic, typename Realtime>
std::int64_t realtime_to_monotonic_ns(Monotonic monotonic, Realtime real) {
  constexpr std::int64_t kCloseNs = 1000;  // readings take less, interruptions more
  constexpr int kTries = 8;
  std::int64_t closest_ns = INT64_MAX;
  std::int64_t offset_ns = 0;
  for (int i = 0; i < kTries && closest_ns > kCloseNs; ++i) {
    const std::int64_t before = monotonic();
    const std::int64_t between = real();
    const std::int64_t apart_ns = monotonic() - before;
    if (apart_ns >= closest_ns) continue;
    closest_ns = apart_ns;
    offset_ns = before + apart_ns / 2 - between;
  }
  return offset_ns;
}

// What to add now to a CLOCK_REALTIME instant to have it on CLOCK_MONOTONIC, to half a microsecond
// unless this thread is interrupted all the time; valid until CLOCK_REALTIME is set.
inline std::int64_t realtime_to_monotonic_ns() {
  return realtime_to_monotonic_ns(monotonic_ns, realtime_ns);
}

inline timespec to_timespec(std::int64_t ns) {
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace turntable
