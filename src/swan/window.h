// What is read at the two ends of the measured window.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "load/window_sampler.h"
#include "swan/cpu_times.h"
#include "textstore/statistics.h"

namespace turntable::swan {

struct Sample {
  std::int64_t at_ns = 0;  // CLOCK_MONOTONIC
  CpuTimes hp, be;
  CpuTimes ours;  // this testbed's other processes on this machine, the generator among them
  std::int64_t busy_ns = 0;
  textstore::Statistics memcached;
};

using WindowSampler = load::WindowSampler<Sample>;
using Window = WindowSampler::Window;

// Processes of this machine that carry the testbed's mark in their environment.
std::vector<pid_t> processes_of_testbed(const std::string& testbed);

}  // namespace turntable::swan
