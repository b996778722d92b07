// The traffic manager: holds the copies of frames between ingress and egress, in queues per port,
// until the port may send them.
//
// Each port has eight queues of strict priority, 7 first. A port, and each of its queues, may be
// shaped; queues have a limit. Times are the caller's, so that tests have a clock of their own.
//
// A shaped port lets frames go at a rate. A port with a link serializes them: the next frame is
// chosen when the link is free, of those that had come by then, however late anybody looks; and it
// leaves when its last bit has.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/link_clock.h"
#include "dataplane/replication.h"
#include "softswitch/frame_pool.h"
#include "softswitch/port.h"
#include "softswitch/timeline.h"
#include "softswitch/token_bucket.h"

namespace turntable::softswitch {

using dataplane::kQueues;
// TNA's depths count the cells of the ASIC's packet buffer.
inline constexpr std::uint32_t kCellBytes = 80;
inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// What is in a queue, and what was.
struct QueueCounters {
  std::uint32_t frames = 0;
  std::uint32_t cells = 0;
  std::uint64_t bytes = 0;
  std::uint32_t watermark_cells = 0;
  std::uint64_t watermark_bytes = 0;
  std::uint64_t dropped_frames = 0;  // refused by a limit
  std::uint64_t dropped_bytes = 0;
};

// What left a link, and how long after its last bit it was handed on.
struct LinkCounters {
  std::uint64_t frames = 0;
  std::uint64_t late_sum_ns = 0;
  std::uint64_t late_max_ns = 0;
  // Frames by how late they were: [0] those that were not, [n] from 2^(n-1) to 2^n - 1 ns.
  std::array<std::uint64_t, 64> late_log2_ns{};

  bool operator==(const LinkCounters&) const = default;
};

class TrafficManager {
 public:
  // `ports` may be filled later, but not changed while frames are queued.
  TrafficManager(FramePool& pool, const PortTable& ports);

  // Takes the frame and queues it as `copy` says. A frame that its port does not exist for is
  // counted at `origin` and released, one beyond a limit at its egress port.
  void enqueue(Frame* frame, const dataplane::Replication::Copy& copy, Port& origin,
               std::uint64_t now_ns);

  // The next frame that `port` may send at `now_ns`, with its metadata for egress set; nullptr:
  // none before next_due_ns().
  Frame* dequeue(const Port& port, std::uint64_t now_ns);

  // Calls serve(port) for every port that may have something to send at `now_ns`; it is to dequeue
  // at most the frames the port has then. False: there was none. What serve() enqueues is left for
  // the next call.
  template <typename Serve>
  bool serve_due(std::uint64_t now_ns, Serve serve);

  // When a port may next send: kNever if nothing is queued, 0 for at once.
  std::uint64_t next_due_ns() const;

  // The one that is being serialized, too.
  std::uint32_t queued_frames(const Port& port) const {
    const PortQueues& state = ports_of_[port.number()];
    return state.frames + (state.leaving == nullptr ? 0 : 1);
  }

  // --- Configuration, and what it holds. Queues 0 to 7.
  void shape_port(std::uint16_t port, Rate rate, std::uint64_t now_ns);
  void shape_queue(std::uint16_t port, std::size_t queue, Rate rate, std::uint64_t now_ns);
  void limit_queue(std::uint16_t port, std::size_t queue, std::uint64_t bytes);
  void limit_all(std::uint64_t bytes) { shared_limit_bytes_ = bytes; }
  // What leaves the port arrives `delay_ns` later at its other end: a long cable. The sender of the
  // frames keeps to it, from Frame::left_at_ns on: that a link is looked at late does not add up.
  void set_delay(std::uint16_t port, std::uint64_t delay_ns);

  // While frames are being serialized, from the next one on. No link: Link{}. A link's queues are
  // served by priority alone: rates of the port and its queues say nothing meanwhile.
  void set_link(std::uint16_t port, Link link);

  Link link(std::uint16_t port) const { return ports_of_[port].link.link(); }
  const LinkCounters& link_counters(std::uint16_t port) const {
    return ports_of_[port].link_counters;
  }
  Rate port_rate(std::uint16_t port) const { return ports_of_[port].bucket.rate(); }
  Rate queue_rate(std::uint16_t port, std::size_t queue) const {
    return ports_of_[port].queues[queue].bucket.rate();
  }
  std::uint64_t queue_limit(std::uint16_t port, std::size_t queue) const {
    return ports_of_[port].queues[queue].limit_bytes;
  }
  std::uint64_t delay_ns(std::uint16_t port) const { return ports_of_[port].delay_ns; }
  const QueueCounters& counters(std::uint16_t port, std::size_t queue) const {
    return ports_of_[port].queues[queue].counters;
  }
  std::uint64_t shared_limit() const { return shared_limit_bytes_; }
  std::uint64_t shared_bytes() const { return shared_bytes_; }
  std::uint64_t shared_watermark_bytes() const { return shared_watermark_bytes_; }

  // Drops to zero, watermarks to what is queued now.
  void clear_counters();

 private:
  struct Queue {
    Frame* head = nullptr;
    Frame* tail = nullptr;
    std::uint64_t limit_bytes = kNoLimit;
    TokenBucket bucket;
    QueueCounters counters;
  };
  struct PortQueues {
    Port* port = nullptr;
    std::uint8_t backlog = 0;  // bit q: queue q has frames
    bool is_active = false;    // is in active_
    bool is_shaped = false;    // the port or one of its queues
    bool may_hold = false;     // frames may outlive the batch they came in
    std::uint32_t frames = 0;
    std::uint64_t due_ns = 0;
    std::uint64_t delay_ns = 0;
    TokenBucket bucket;
    LinkClock link;
    Frame* leaving = nullptr;  // is being serialized
    std::uint64_t leaving_since_ns = 0;
    std::uint64_t leaves_at_ns = 0;
    LinkCounters link_counters;
    std::array<Queue, kQueues> queues;
  };

  bool admits(const PortQueues& state, const Queue& queue, std::uint32_t bytes) const;
  void push(Frame* frame, PortQueues& state, std::size_t number);
  Frame* pop(PortQueues& state, std::size_t number);
  int choose_shaped(PortQueues& state, std::uint64_t now_ns);
  Frame* dequeue_from_link(PortQueues& state, std::uint64_t now_ns);
  void begin_next(PortQueues& state);
  void update_flags(PortQueues& state, std::uint16_t port);
  void leave_idle();

  FramePool& pool_;
  const PortTable& ports_;
  std::vector<PortQueues> ports_of_;  // by port number
  std::vector<PortQueues*> active_;   // those with frames, in the order they were first enqueued to
  std::size_t reserve_frames_;        // free frames that held ones must leave to others
  std::uint64_t shared_limit_bytes_ = kNoLimit;
  std::uint64_t shared_bytes_ = 0;
  std::uint64_t shared_watermark_bytes_ = 0;
};

template <typename Serve>
bool TrafficManager::serve_due(std::uint64_t now_ns, Serve serve) {
  bool served = false;
  const std::size_t count = active_.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (active_[i]->due_ns > now_ns) continue;
    serve(*active_[i]->port);
    served = true;
  }
  if (served) leave_idle();
  return served;
}

}  // namespace turntable::softswitch
