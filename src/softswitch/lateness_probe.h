// How late the pipeline thread gets to what waits for it: the longest time is what empties the
// queues of the servers behind the switch, and no sum or average shows it.
#pragma once

#include <cstdint>

#include "common/unique_fd.h"

namespace turntable::softswitch {

// A clock that ticks every kPeriodNs in the set of descriptors the thread waits for. The tick is
// late when the thread is: because others have its processor, or because it is still busy with
// frames. A stall is seen in full if a tick falls on its beginning, and up to one period shorter
// otherwise. One system call per tick, nothing per frame.
class LatenessProbe {
 public:
  static constexpr std::int64_t kPeriodNs = 2'000'000;

  LatenessProbe();

  int fd() const { return timer_.get(); }  // readable when a tick is due

  // Once fd() is readable.
  void tick();

  std::int64_t largest_ns() const { return largest_ns_; }
  void clear() { largest_ns_ = 0; }

 private:
  UniqueFd timer_;
  std::int64_t due_ns_;  // the oldest tick not yet read
  std::int64_t largest_ns_ = 0;
};

}  // namespace turntable::softswitch
