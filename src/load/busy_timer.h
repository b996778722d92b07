// How long the calling thread was busy with a piece of work, without the time it waited for a CPU.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "common/unique_fd.h"

namespace turntable::load {

// The work itself and what it waits for (a disk, a lock) is busy time. Time in which the thread
// could run, but others had the CPU, is scheduling delay and not the work's: the kernel adds it up
// as the second number of /proc/thread-self/schedstat. Where that does not exist, elapsed time is
// taken.
class BusyTimer {
 public:
  // For the thread that calls it.
  BusyTimer() : schedstat_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

  void begin(std::int64_t now_ns) noexcept {
    begin_ns_ = now_ns;
    begin_delay_ns_ = run_delay_ns();
  }

  // Busy time since begin(). An answer up to `threshold_ns` is elapsed time: the caller does not
  // mind, and it saves a system call.
  std::int64_t end(std::int64_t now_ns, std::int64_t threshold_ns) const noexcept {
    const std::int64_t elapsed = now_ns - begin_ns_;
    return elapsed <= threshold_ns ? elapsed : elapsed - (run_delay_ns() - begin_delay_ns_);
  }

 private:
  std::int64_t run_delay_ns() const noexcept {
    char text[96];
    const ssize_t length = schedstat_ ? ::pread(schedstat_.get(), text, sizeof text - 1, 0) : 0;
    if (length <= 0) return 0;
    text[length] = '\0';
    char* after_cpu_time = text;
    std::strtoll(text, &after_cpu_time, 10);
    return std::strtoll(after_cpu_time, nullptr, 10);
  }

  UniqueFd schedstat_;
  std::int64_t begin_ns_ = 0;
  std::int64_t begin_delay_ns_ = 0;
};

}  // namespace turntable::load
