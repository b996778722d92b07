#include "shadowfax/server/window_sampler.h"

#include <chrono>
#include <utility>

#include "common/clock.h"
#include "common/data_path_thread.h"

namespace turntable::shadowfax {

WindowSampler::WindowSampler(std::int64_t from_ns, std::int64_t until_ns, Read read)
    : read_(std::move(read)), thread_([this, from_ns, until_ns](const std::stop_token& stop) {
        work(from_ns, until_ns, stop);
      }) {}

std::optional<WindowSampler::Result> WindowSampler::result() const {
  const std::lock_guard lock(mutex_);
  return result_;
}

// Workers may have all processors: it goes before them, for the moment that it takes.
void WindowSampler::work(std::int64_t from_ns, std::int64_t until_ns, const std::stop_token& stop) {
  use_precise_timers();
  use_realtime_priority();
  if (!wait_until(from_ns, stop)) return;
  Result result;
  const std::int64_t began_ns = monotonic_ns();
  result.begin = read_();
  if (!wait_until(until_ns, stop)) return;
  result.window_ns = monotonic_ns() - began_ns;
  result.end = read_();
  const std::lock_guard lock(mutex_);
  result_ = std::move(result);
}

bool WindowSampler::wait_until(std::int64_t at_ns, const std::stop_token& stop) {
  const std::chrono::steady_clock::time_point at{std::chrono::nanoseconds(at_ns)};
  std::unique_lock lock(mutex_);
  ends_.wait_until(lock, stop, at, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace turntable::shadowfax
