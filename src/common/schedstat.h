// What the kernel's scheduler says of the calling thread.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>

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
inline std::optional<SchedulingTimes> scheduling_of_this_thread() {
  SchedulingTimes times;
  std::ifstream file("/proc/thread-self/schedstat");
  if (!(file >> times.run_ns >> times.wait_ns)) return std::nullopt;
  return times;
}

}  // namespace turntable
