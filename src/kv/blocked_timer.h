// How long the calling thread was kept busy by a piece of work, told apart from being preempted.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "kv/clock.h"

namespace turntable::kv {

// A thread that gives the CPU up by itself (it waits for a disk or a lock) is blocked: all of the
// elapsed time counts. One that does not is at most preempted by others, which is scheduling delay
// and no work: only its CPU time counts.
class BlockedTimer {
 public:
  explicit BlockedTimer(std::int64_t now_ns) : begin_ns_(now_ns) {
    ::getrusage(RUSAGE_THREAD, &begin_);
  }

  // The time since construction that counts. Exact only if it exceeds `threshold_ns`: a shorter
  // one does not matter and saves a system call.
  std::int64_t blocked_ns(std::int64_t now_ns, std::int64_t threshold_ns) const {
    const std::int64_t elapsed = now_ns - begin_ns_;
    if (elapsed <= threshold_ns) return elapsed;
    rusage end;
    ::getrusage(RUSAGE_THREAD, &end);
    return end.ru_nvcsw != begin_.ru_nvcsw ? elapsed : cpu_ns(end) - cpu_ns(begin_);
  }

 private:
  static std::int64_t cpu_ns(const rusage& usage) {
    const auto ns = [](const timeval& t) {
      return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_usec * std::int64_t{1000};
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
  }

  std::int64_t begin_ns_;
  rusage begin_;
};

}  // namespace turntable::kv
