// What is read at the two ends of the measured window.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "swan/cpu_times.h"
#include "swan/memcached_client.h"

namespace turntable::swan {

struct Sample {
  std::int64_t at_ns = 0;  // CLOCK_MONOTONIC
  CpuTimes hp, be;
  CpuTimes ours;  // this testbed's other processes on this machine, the generator among them
  std::int64_t busy_ns = 0;
  MemcachedStatistics memcached;
};

struct Window {
  Sample begin, end;
};

// Calls `take` at both ends, on a thread of its own.
class WindowSampler {
 public:
  // CLOCK_MONOTONIC.
  WindowSampler(std::int64_t from_ns, std::int64_t until_ns, std::function<Sample()> take);
  ~WindowSampler();
  WindowSampler(const WindowSampler&) = delete;
  WindowSampler& operator=(const WindowSampler&) = delete;

  // Empty: the window is not over, or was cut short.
  std::optional<Window> window() const;
  // Waits for the end of what is being read, and reads nothing more.
  void stop();

 private:
  void run(std::int64_t from_ns, std::int64_t until_ns);
  bool wait_until(std::int64_t at_ns);

  const std::function<Sample()> take_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool stop_ = false;
  std::optional<Window> window_;

  std::thread thread_;
};

// Processes of this machine that carry the testbed's mark in their environment.
std::vector<pid_t> processes_of_testbed(const std::string& testbed);

}  // namespace turntable::swan
