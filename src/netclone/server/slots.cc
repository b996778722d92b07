#include "netclone/server/slots.h"

#include <algorithm>

namespace turntable::netclone {

Slots::Slots(std::uint32_t workers, bool drop_clones) : drop_clones_(drop_clones), jobs_(workers) {
  due_.reserve(workers);
  free_.reserve(workers);
  for (std::uint32_t slot = 0; slot < workers; ++slot) free_.push({INT64_MIN, slot});
}

Slots::Admission Slots::arrive(const Job& job, std::int64_t now_ns) {
  if (free_.empty()) {
    fifo_.push(job);
    return Admission::kQueued;
  }
  const Free free = free_.first();
  free_.pop();
  due_.push(start(job, free.slot, free.since_ns, now_ns));
  return Admission::kStarted;
}

Slots::Completion Slots::complete(std::int64_t now_ns) {
  const Due due = due_.first();
  const Completion completion{
      .job = jobs_[due.slot], .due_ns = due.due_ns, .queue = queue(), .all_busy = free_.empty()};
  if (fifo_.empty()) {
    due_.pop();
    free_.push({due.due_ns, due.slot});
  } else {
    Job next = fifo_.pop();
    next.arrived_at_all_busy = true;
    due_.replace_first(start(next, due.slot, due.due_ns, now_ns));
  }
  return completion;
}

Slots::Due Slots::start(Job job, std::uint32_t slot, std::int64_t free_ns, std::int64_t now_ns) {
  job.start_ns = std::max(job.arrival_ns, free_ns);
  const std::int64_t earliest = now_ns - kMaxCatchUpNs;
  if (job.start_ns < earliest) {
    lost_ns_ += earliest - job.start_ns;
    job.start_ns = earliest;
  }
  jobs_[slot] = job;
  return {jobs_[slot].start_ns + jobs_[slot].service_ns, slot};
}

}  // namespace turntable::netclone
