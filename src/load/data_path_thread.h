// Settings of the threads that serve the data path. They apply to the calling thread.
#pragma once

#include <sched.h>
#include <sys/prctl.h>

namespace turntable::load {

// Timers fire when they are due, not up to 50 us later (Linux's default slack).
inline void use_precise_timers() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
}

}  // namespace turntable::load
