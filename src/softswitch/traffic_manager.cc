#include "softswitch/traffic_manager.h"

namespace turntable::softswitch {
namespace {

using dataplane::kDropFrame;

bool wants_multicast(const dataplane::Packet& packet) {
  return (packet.mcast_grp_a != 0 || packet.mcast_grp_b != 0) &&
         (packet.drop_ctl & kDropFrame) == 0;
}

}  // namespace

TrafficManager::TrafficManager(FramePool& pool, const PortTable& ports)
    : pool_(pool), ports_(ports), queues_(kMaxPorts) {
  backlogged_.reserve(kMaxPorts);
}

void TrafficManager::enqueue(Frame* frame, Port& ingress, std::uint64_t now_ns) {
  const dataplane::Packet& packet = frame->packet;
  PortCounters& counters = ingress.counters();
  if (wants_multicast(packet)) counters.drop(DropReason::kMulticast);
  if ((packet.drop_ctl & kDropFrame) != 0) {
    counters.drop(DropReason::kIngressDrop);
  } else if (!packet.has_ucast_egress_port) {
    if (!wants_multicast(packet)) counters.drop(DropReason::kNoDestination);
  } else if (Port* egress = ports_.find(packet.ucast_egress_port); egress == nullptr) {
    counters.drop(DropReason::kUnknownPort);
  } else {
    push(frame, *egress, now_ns);
    return;
  }
  pool_.release(frame);
}

void TrafficManager::push(Frame* frame, Port& egress, std::uint64_t now_ns) {
  Queue& queue = queues_[egress.number()];
  frame->packet.egress_port = egress.number();
  frame->packet.egress_rid = 0;
  frame->packet.enq_qdepth = queue.depth;
  frame->packet.enq_tstamp_ns = now_ns;
  frame->next = nullptr;
  if (queue.head == nullptr) {
    queue.head = frame;
    backlogged_.push_back(&egress);
  } else {
    queue.tail->next = frame;
  }
  queue.tail = frame;
  ++queue.depth;
}

Frame* TrafficManager::dequeue(const Port& port, std::uint64_t now_ns) {
  Queue& queue = queues_[port.number()];
  Frame* frame = queue.head;
  if (frame == nullptr) return nullptr;
  queue.head = frame->next;
  --queue.depth;
  frame->packet.deq_qdepth = queue.depth;
  frame->packet.deq_timedelta_ns = static_cast<std::uint32_t>(now_ns - frame->packet.enq_tstamp_ns);
  return frame;
}

}  // namespace turntable::softswitch
