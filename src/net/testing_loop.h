// Running an event loop in a test's own thread.
#pragma once

#include <chrono>
#include <functional>

#include "net/event_loop.h"

namespace turntable::net::testing {

// Runs `loop` until `condition`; false if it takes too long. Once for each loop.
inline bool run_until(EventLoop& loop, const std::function<bool()>& condition) {
  constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(20);
  const std::int64_t deadline = loop.now_ns() + kPatience.count();
  bool holds = false;
  std::function<void()> look = [&] {
    holds = condition();
    if (holds || loop.now_ns() > deadline) return loop.stop();
    loop.call_at(loop.now_ns() + 1'000'000, look);
  };
  look();
  loop.run();
  return holds;
}

}  // namespace turntable::net::testing
