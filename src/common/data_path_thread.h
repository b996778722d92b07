// Settings of the threads that serve the data path. They apply to the calling thread.
#pragma once

#include <sched.h>
#include <sys/prctl.h>

namespace turntable {

// Timers fire when they are due, not up to 50 us later (Linux's default slack).
inline void use_precise_timers() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
}

// The thread runs before all ordinary threads whenever it can run. Answers whether the system
// allowed it (it needs CAP_SYS_NICE).
inline bool use_realtime_priority() {
  const sched_param lowest{.sched_priority = ::sched_get_priority_min(SCHED_RR)};
  return ::sched_setscheduler(0, SCHED_RR, &lowest) == 0;
}

// As every thread begins.
inline void use_ordinary_priority() {
  const sched_param none{.sched_priority = 0};
  ::sched_setscheduler(0, SCHED_OTHER, &none);
}

inline bool has_realtime_priority() {
  return ::sched_getscheduler(0) == SCHED_RR;
}

}  // namespace turntable
