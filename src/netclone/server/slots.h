// The queue of a logical server: a FIFO before W workers, each of which is a slot that is held for
// as long as the work was drawn to take. In virtual time and without clock, sockets or threads: the
// caller says when requests arrived and what time it is.
//
//   arrival --> FIFO --> slot: held from start to due --> answer
//
//   start = arrival, if a slot is free; else when the slot before it was due
//   due   = start + service time
//
// Arrival is when the packet reached the socket, and a job that waited starts when the one before
// it was due, however late the caller looks: so a thread that wakes up late catches up, lateness
// costs no capacity and errors do not add up. At most kMaxCatchUpNs is caught up; what lies further
// back is lost and counted (farreach/kv/capacity.h does the same for one worker).
//
// Times are nanoseconds of one clock. The caller completes what is due before it lets a later
// request arrive. Not thread-safe; nothing allocates but a FIFO that has never been so long.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <vector>

#include "common/min_heap.h"
#include "common/ring.h"
#include "netclone/packet.h"

namespace turntable::netclone {

struct Job {
  Packet packet;
  sockaddr_in from{};
  std::int64_t arrival_ns = 0;
  std::int64_t service_ns = 0;
  std::uint64_t ticket = 0;          // of its execution at a store
  std::int64_t start_ns = 0;         // set by Slots
  bool arrived_at_all_busy = false;  // set by Slots
};

class Slots {
 public:
  static constexpr std::int64_t kMaxCatchUpNs = 5'000'000;

  enum class Admission : std::uint8_t { kStarted, kQueued };

  struct Completion {
    Job job;
    std::int64_t due_ns;
    std::uint32_t queue;  // jobs that wait then, without those in slots: what is reported
    bool all_busy;        // no slot was free just before
  };

  // drop_clones: a clone that finds others waiting is to be dropped.
  Slots(std::uint32_t workers, bool drop_clones);

  // Whether the packet, which arrives now, is to be dropped and must not be given to arrive().
  bool drops(const Packet& packet) const noexcept {
    return drop_clones_ && packet.clone == Clone::kClone && !fifo_.empty();
  }
  Admission arrive(const Job& job, std::int64_t now_ns);

  std::int64_t next_due_ns() const noexcept {
    return due_.empty() ? INT64_MAX : due_.first().due_ns;
  }
  // The job that is due first; not if none is in a slot. Starts the next one that waits.
  Completion complete(std::int64_t now_ns);

  std::uint32_t queue() const noexcept { return static_cast<std::uint32_t>(fifo_.size()); }
  std::size_t busy() const noexcept { return due_.size(); }
  // Work that the slots could have done if the caller had been less late.
  std::int64_t lost_ns() const noexcept { return lost_ns_; }

 private:
  struct Due {
    std::int64_t due_ns;
    std::uint32_t slot;
    friend bool operator<(const Due& a, const Due& b) noexcept { return a.due_ns < b.due_ns; }
  };
  struct Free {
    std::int64_t since_ns;
    std::uint32_t slot;
    friend bool operator<(const Free& a, const Free& b) noexcept { return a.since_ns < b.since_ns; }
  };

  // In a slot that is free from `free_ns` on.
  Due start(Job job, std::uint32_t slot, std::int64_t free_ns, std::int64_t now_ns);

  const bool drop_clones_;
  std::vector<Job> jobs_;  // of the slots
  MinHeap<Due> due_;
  MinHeap<Free> free_;
  Ring<Job> fifo_;
  std::int64_t lost_ns_ = 0;
};

}  // namespace turntable::netclone
