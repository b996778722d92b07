// Reads something at the two ends of a measured window, on a thread of its own: those who count
// know nothing of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "common/data_path_thread.h"

namespace turntable::load {

template <typename Sample>
class WindowSampler {
 public:
  struct Window {
    Sample begin, end;
  };
  struct Options {
    std::string program = "";  // for messages
    // Before all ordinary threads, which may have all processors.
    bool realtime = false;
  };

  // CLOCK_MONOTONIC. take: is called at both ends, by the sampler's thread.
  WindowSampler(std::int64_t from_ns, std::int64_t until_ns, std::function<Sample()> take)
      : WindowSampler(from_ns, until_ns, std::move(take), Options{}) {}
  WindowSampler(std::int64_t from_ns, std::int64_t until_ns, std::function<Sample()> take,
                Options options)
      : take_(std::move(take)), options_(std::move(options)) {
    thread_ = std::thread([this, from_ns, until_ns] { run(from_ns, until_ns); });
  }
  ~WindowSampler() { stop(); }
  WindowSampler(const WindowSampler&) = delete;
  WindowSampler& operator=(const WindowSampler&) = delete;

  // Empty: the window is not over, or was cut short.
  std::optional<Window> window() const {
    const std::lock_guard lock(mutex_);
    return window_;
  }

  // Waits for the end of what is being read, and reads nothing more.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run(std::int64_t from_ns, std::int64_t until_ns) try {
    if (options_.realtime) {
      use_precise_timers();
      use_realtime_priority();
    }
    Window window;
    if (!wait_until(from_ns)) return;
    window.begin = take_();
    if (!wait_until(until_ns)) return;
    window.end = take_();
    const std::lock_guard lock(mutex_);
    window_ = std::move(window);
  } catch (const std::exception& error) {  // there is no window, and whoever asks is told so
    std::cerr << options_.program << ": the window cannot be read: " << error.what() << std::endl;
  }

  // steady_clock is CLOCK_MONOTONIC.
  bool wait_until(std::int64_t at_ns) {
    const std::chrono::steady_clock::time_point at{std::chrono::nanoseconds(at_ns)};
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, at, [&] { return stop_; });
    // A window that was over when somebody asked to stop is read to its end: this thread may be
    // late.
    return std::chrono::steady_clock::now() >= at;
  }

  const std::function<Sample()> take_;
  const Options options_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool stop_ = false;
  std::optional<Window> window_;

  std::thread thread_;
};

}  // namespace turntable::load
