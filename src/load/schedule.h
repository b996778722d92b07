// The phases of a measurement as a client has them.
//
//   start            window_from       window_until       drain_until
//   |--- warm-up ----|--- measuring ---|----- drain ------|
//    not counted      counted           answers are waited for
#pragma once

#include <cstdint>

namespace turntable::load {

enum class Phase : std::uint8_t { kWarmUp, kMeasure, kDrain };

// CLOCK_MONOTONIC, in this order.
struct Schedule {
  std::int64_t start_ns = 0;
  std::int64_t window_from_ns = 0;
  std::int64_t window_until_ns = 0;
  std::int64_t drain_until_ns = 0;

  bool in_window(std::int64_t at_ns) const noexcept {
    return at_ns >= window_from_ns && at_ns < window_until_ns;
  }
  std::int64_t window_ns() const noexcept { return window_until_ns - window_from_ns; }

  Schedule starting_at(std::int64_t at_ns) const noexcept {
    const std::int64_t later_ns = at_ns - start_ns;
    return {at_ns, window_from_ns + later_ns, window_until_ns + later_ns,
            drain_until_ns + later_ns};
  }
};

}  // namespace turntable::load
