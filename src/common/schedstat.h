// What the kernel's scheduler says of a thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace turntable {

struct SchedulingTimes {
  std::int64_t run_ns = 0;   // on a processor
  std::int64_t wait_ns = 0;  // ready to run, but others had the processors

  SchedulingTimes operator-(const SchedulingTimes& earlier) const {
    return {run_ns - earlier.run_ns, wait_ns - earlier.wait_ns};
  }
};

// Since the thread began. Nothing where the kernel keeps no such statistics. Opens a file, so not
// for every packet.
inline std::optional<SchedulingTimes> scheduling_of(const std::string& thread_directory) {
  SchedulingTimes times;
  std::ifstream file(thread_directory + "/schedstat");
  if (!(file >> times.run_ns >> times.wait_ns)) return std::nullopt;
  return times;
}

inline std::optional<SchedulingTimes> scheduling_of_this_thread() {
  return scheduling_of("/proc/thread-self");
}

// Of a thread of this process.
inline std::optional<SchedulingTimes> scheduling_of_thread(pid_t thread) {
  return scheduling_of("/proc/self/task/" + std::to_string(thread));
}

}  // namespace turntable
