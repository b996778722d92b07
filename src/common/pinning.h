// Where a thread runs.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <span>

namespace turntable {

// The calling thread, on any of these. False: this process may use none of them.
inline bool pin_this_thread(std::span<const int> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set) == 0;
}

// Thread number `thread` of several that have one processor each, where any are named.
inline void pin_this_thread(std::span<const int> cpus, std::size_t thread) {
  if (!cpus.empty()) pin_this_thread(cpus.subspan(thread % cpus.size(), 1));
}

}  // namespace turntable
