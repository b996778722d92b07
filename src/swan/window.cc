#include "swan/window.h"

#include <chrono>
#include <exception>
#include <iostream>

#include "node/process.h"

namespace turntable::swan {

WindowSampler::WindowSampler(std::int64_t from_ns, std::int64_t until_ns,
                             std::function<Sample()> take)
    : take_(std::move(take)) {
  thread_ = std::thread([this, from_ns, until_ns] { run(from_ns, until_ns); });
}

WindowSampler::~WindowSampler() {
  stop();
}

void WindowSampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<Window> WindowSampler::window() const {
  const std::lock_guard lock(mutex_);
  return window_;
}

// steady_clock is CLOCK_MONOTONIC.
bool WindowSampler::wait_until(std::int64_t at_ns) {
  const std::chrono::steady_clock::time_point at{std::chrono::nanoseconds(at_ns)};
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, at, [&] { return stop_; });
  // A window that was over when somebody asked to stop is read to its end: this thread may be late.
  return std::chrono::steady_clock::now() >= at;
}

void WindowSampler::run(std::int64_t from_ns, std::int64_t until_ns) try {
  Window window;
  if (!wait_until(from_ns)) return;
  window.begin = take_();
  if (!wait_until(until_ns)) return;
  window.end = take_();
  const std::lock_guard lock(mutex_);
  window_ = window;
} catch (const std::exception& error) {  // there is no window, and whoever asks is told so
  std::cerr << "colocator: the window cannot be read: " << error.what() << std::endl;
}

std::vector<pid_t> processes_of_testbed(const std::string& testbed) {
  std::vector<pid_t> processes;
  if (testbed.empty()) return processes;
  for (const pid_t pid : node::all_processes())
    if (node::environment_of(pid, "TURNTABLE_TESTBED") == testbed) processes.push_back(pid);
  return processes;
}

}  // namespace turntable::swan
