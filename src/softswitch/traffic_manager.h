// The traffic manager: decides which copies of a frame leave ingress, and holds them until their
// port sends them.
//
// This one is the thinnest that is true to TNA: unicast by ucast_egress_port unless drop_ctl bit 0
// is set, one FIFO per port, and ports that send as fast as the kernel takes frames. The callers
// rely only on enqueue and dequeue, which is where strict-priority queues (by qid), shaping and
// delay (by `now_ns`), buffer limits, multicast copies and mirror sessions belong.
#pragma once

#include <cstdint>
#include <vector>

#include "softswitch/frame_pool.h"
#include "softswitch/port.h"

namespace turntable::softswitch {

class TrafficManager {
 public:
  TrafficManager(FramePool& pool, const PortTable& ports);

  // Takes a frame that left ingress. Frames that go nowhere are counted at `ingress` and released.
  void enqueue(Frame* frame, Port& ingress, std::uint64_t now_ns);

  // The next frame that `port` may send at `now_ns`, with its metadata for egress set; nullptr:
  // none.
  Frame* dequeue(const Port& port, std::uint64_t now_ns);

  // The ports that may have something to send, each once, in the order they were first enqueued to.
  // The caller dequeues until nullptr for each, then calls clear_backlogged().
  const std::vector<Port*>& backlogged() const { return backlogged_; }
  void clear_backlogged() { backlogged_.clear(); }

 private:
  struct Queue {
    Frame* head = nullptr;
    Frame* tail = nullptr;
    std::uint32_t depth = 0;  // frames
  };

  void push(Frame* frame, Port& egress, std::uint64_t now_ns);

  FramePool& pool_;
  const PortTable& ports_;
  std::vector<Queue> queues_;  // by port number
  std::vector<Port*> backlogged_;
};

}  // namespace turntable::softswitch
