// Where a thread runs.
#pragma once

#include <pthread.h>
#include <sched.h>

namespace turntable {

// The calling thread. False: this process may not use that processor.
inline bool pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set) == 0;
}

}  // namespace turntable
