#include "softswitch/traffic_manager.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace turntable::softswitch {
namespace {

std::uint32_t cells_of(std::uint32_t bytes) {
  return (bytes + kCellBytes - 1) / kCellBytes;
}

std::size_t highest(std::uint8_t backlog) {
  return static_cast<std::size_t>(std::bit_width(backlog)) - 1;
}

}  // namespace

TrafficManager::TrafficManager(FramePool& pool, const PortTable& ports)
    : pool_(pool), ports_(ports), ports_of_(kMaxPorts), reserve_frames_(reserved_frames(pool)) {
  active_.reserve(kMaxPorts);
  for (std::uint16_t port = 0; port < kMaxPorts; ++port) update_flags(ports_of_[port], port);
}

void TrafficManager::enqueue(Frame* frame, const dataplane::Replication::Copy& copy, Port& origin,
                             std::uint64_t now_ns) {
  Port* const port = ports_.find(copy.port);
  if (port == nullptr) {
    count_drop(*frame, origin, DropReason::kUnknownPort);
    pool_.release(frame);
    return;
  }
  PortQueues& state = ports_of_[copy.port];
  const std::uint8_t number = dataplane::queue_of(copy.qid);
  Queue& queue = state.queues[number];
  dataplane::Packet& packet = frame->packet;
  if (!admits(state, queue, packet.length)) {
    ++queue.counters.dropped_frames;
    queue.counters.dropped_bytes += packet.length;
    count_drop(*frame, *port, DropReason::kQueueLimit);
    pool_.release(frame);
    return;
  }
  packet.egress_port = copy.port;
  packet.egress_rid = copy.rid;
  packet.egress_rid_first = copy.is_first_of_rid;
  packet.qid = number;
  packet.bypass_egress = copy.bypass_egress;
  packet.enq_qdepth = queue.counters.cells;
  packet.enq_tstamp_ns = now_ns;
  state.port = port;
  if (frame->trace != nullptr) [[unlikely]]
    frame->trace->queued(copy);
  push(frame, state, number);
}

// Frames that wait must leave enough for what arrives, or nothing would be received any more.
bool TrafficManager::admits(const PortQueues& state, const Queue& queue,
                            std::uint32_t bytes) const {
  if (state.may_hold && pool_.available() < reserve_frames_) return false;
  return queue.counters.bytes + bytes <= queue.limit_bytes &&
         shared_bytes_ + bytes <= shared_limit_bytes_;
}

void TrafficManager::push(Frame* frame, PortQueues& state, std::size_t number) {
  Queue& queue = state.queues[number];
  frame->next = nullptr;
  if (queue.head == nullptr) {
    queue.head = frame;
    state.backlog = static_cast<std::uint8_t>(state.backlog | (1U << number));
    state.due_ns = 0;  // this queue may be served before those that wait
  } else {
    queue.tail->next = frame;
  }
  queue.tail = frame;
  QueueCounters& counters = queue.counters;
  ++state.frames;
  ++counters.frames;
  counters.cells += cells_of(frame->packet.length);
  counters.bytes += frame->packet.length;
  counters.watermark_cells = std::max(counters.watermark_cells, counters.cells);
  counters.watermark_bytes = std::max(counters.watermark_bytes, counters.bytes);
  shared_bytes_ += frame->packet.length;
  shared_watermark_bytes_ = std::max(shared_watermark_bytes_, shared_bytes_);
  if (!state.is_active) {
    state.is_active = true;
    active_.push_back(&state);
  }
}

Frame* TrafficManager::pop(PortQueues& state, std::size_t number) {
  Queue& queue = state.queues[number];
  Frame* const frame = queue.head;
  queue.head = frame->next;
  if (queue.head == nullptr)
    state.backlog = static_cast<std::uint8_t>(state.backlog & ~(1U << number));
  --state.frames;
  --queue.counters.frames;
  queue.counters.cells -= cells_of(frame->packet.length);
  queue.counters.bytes -= frame->packet.length;
  shared_bytes_ -= frame->packet.length;
  return frame;
}

Frame* TrafficManager::dequeue(const Port& port, std::uint64_t now_ns) {
  PortQueues& state = ports_of_[port.number()];
  if (state.leaving != nullptr || (state.link.limits() && state.backlog != 0))
    return dequeue_from_link(state, now_ns);
  if (state.backlog == 0) return nullptr;
  const int chosen =
      state.is_shaped ? choose_shaped(state, now_ns) : static_cast<int>(highest(state.backlog));
  if (chosen < 0) return nullptr;
  const auto number = static_cast<std::size_t>(chosen);
  Frame* const frame = pop(state, number);
  if (state.is_shaped) {
    state.bucket.take(frame->packet.length);
    state.queues[number].bucket.take(frame->packet.length);
  }
  frame->packet.deq_qdepth = state.queues[number].counters.cells;
  frame->packet.deq_timedelta_ns = static_cast<std::uint32_t>(now_ns - frame->packet.enq_tstamp_ns);
  frame->left_at_ns = now_ns;
  return frame;
}

Frame* TrafficManager::dequeue_from_link(PortQueues& state, std::uint64_t now_ns) {
  if (state.leaving == nullptr) begin_next(state);
  if (state.leaves_at_ns > now_ns) {
    state.due_ns = state.leaves_at_ns;
    return nullptr;
  }
  const std::uint64_t late_ns = now_ns - state.leaves_at_ns;
  LinkCounters& counters = state.link_counters;
  ++counters.frames;
  counters.late_sum_ns += late_ns;
  counters.late_max_ns = std::max(counters.late_max_ns, late_ns);
  ++counters.late_log2_ns[static_cast<std::size_t>(std::bit_width(late_ns))];
  state.due_ns = 0;
  return std::exchange(state.leaving, nullptr);
}

// The link became free, or a frame came to a free one. Which is next was decided then.
void TrafficManager::begin_next(PortQueues& state) {
  std::uint64_t first_came_ns = kNever;
  for (const Queue& queue : state.queues)
    if (queue.head != nullptr)
      first_came_ns = std::min(first_came_ns, queue.head->packet.enq_tstamp_ns);
  const std::uint64_t begins_ns = std::max(state.link.free_at_ns(), first_came_ns);
  std::size_t number = highest(state.backlog);
  while (state.queues[number].head == nullptr ||
         state.queues[number].head->packet.enq_tstamp_ns > begins_ns)
    --number;
  Frame* const frame = pop(state, number);
  frame->packet.deq_qdepth = state.queues[number].counters.cells;
  frame->packet.deq_timedelta_ns =
      static_cast<std::uint32_t>(begins_ns - frame->packet.enq_tstamp_ns);
  state.leaving = frame;
  state.leaving_since_ns = begins_ns;
  state.leaves_at_ns = frame->left_at_ns = state.link.send(begins_ns, frame->packet.length);
}

// The highest queue that may send, or -1: then due_ns says when to ask again.
int TrafficManager::choose_shaped(PortQueues& state, std::uint64_t now_ns) {
  const std::uint64_t port_ready_ns = state.bucket.ready_at(now_ns);
  std::uint64_t queue_ready_ns = kNever;
  for (std::uint8_t rest = state.backlog; rest != 0;) {
    const std::size_t number = highest(rest);
    rest = static_cast<std::uint8_t>(rest & ~(1U << number));
    const std::uint64_t ready_ns = state.queues[number].bucket.ready_at(now_ns);
    if (ready_ns <= now_ns && port_ready_ns <= now_ns) return static_cast<int>(number);
    queue_ready_ns = std::min(queue_ready_ns, ready_ns);
  }
  state.due_ns = std::max(port_ready_ns, queue_ready_ns);
  return -1;
}

void TrafficManager::leave_idle() {
  std::erase_if(active_, [](PortQueues* state) {
    state->is_active = state->backlog != 0 || state->leaving != nullptr;
    return !state->is_active;
  });
}

std::uint64_t TrafficManager::next_due_ns() const {
  std::uint64_t next_ns = kNever;
  for (const PortQueues* state : active_) next_ns = std::min(next_ns, state->due_ns);
  return next_ns;
}

void TrafficManager::shape_port(std::uint16_t port, Rate rate, std::uint64_t now_ns) {
  ports_of_[port].bucket.configure(rate, now_ns);
  update_flags(ports_of_[port], port);
}

void TrafficManager::shape_queue(std::uint16_t port, std::size_t queue, Rate rate,
                                 std::uint64_t now_ns) {
  ports_of_[port].queues[queue].bucket.configure(rate, now_ns);
  update_flags(ports_of_[port], port);
}

void TrafficManager::set_link(std::uint16_t port, Link link) {
  ports_of_[port].link.configure(link);
  update_flags(ports_of_[port], port);
}

void TrafficManager::limit_queue(std::uint16_t port, std::size_t queue, std::uint64_t bytes) {
  ports_of_[port].queues[queue].limit_bytes = bytes;
}

void TrafficManager::set_delay(std::uint16_t port, std::uint64_t delay_ns) {
  ports_of_[port].delay_ns = delay_ns;
  update_flags(ports_of_[port], port);
}

void TrafficManager::update_flags(PortQueues& state, std::uint16_t port) {
  state.is_shaped =
      state.bucket.limits() || std::any_of(state.queues.begin(), state.queues.end(),
                                           [](const Queue& q) { return q.bucket.limits(); });
  state.may_hold = state.is_shaped || state.link.limits() || state.delay_ns != 0 ||
                   dataplane::is_recirculation_port(port);
  state.due_ns = 0;  // what waits is judged anew
}

void TrafficManager::clear_counters() {
  for (PortQueues& state : ports_of_) {
    state.link_counters = {};
    for (Queue& queue : state.queues) {
      queue.counters.dropped_frames = queue.counters.dropped_bytes = 0;
      queue.counters.watermark_cells = queue.counters.cells;
      queue.counters.watermark_bytes = queue.counters.bytes;
    }
  }
  shared_watermark_bytes_ = shared_bytes_;
}

}  // namespace turntable::softswitch
