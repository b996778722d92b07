#include "softswitch/pipeline.h"

#include <algorithm>

#include "common/clock.h"

namespace turntable::softswitch {
namespace {

using dataplane::kDropFrame;
constexpr std::uint64_t kTimestampMask = (std::uint64_t{1} << 48U) - 1;  // width of TNA timestamps

std::uint64_t now() {
  return static_cast<std::uint64_t>(monotonic_ns());
}

void spin_for(std::uint64_t delay_ns) {
  const std::uint64_t end = now() + delay_ns;
  while (now() < end) continue;
}

}  // namespace

Pipeline::Pipeline(dataplane::Program& program, const PortTable& ports, FramePool& pool)
    : program_(&program),
      ports_(ports),
      pool_(pool),
      traffic_manager_(pool, ports),
      replicator_(pool, traffic_manager_),
      impairments_(pool, ports) {
  recirculated_.reserve(pool.capacity());
  arriving_.reserve(pool.capacity());
  received_.reserve(pool.capacity());
  sent_.reserve(pool.capacity());
}

void Pipeline::process(std::span<Frame* const> frames, Port& port) {
  if (!port.is_enabled()) [[unlikely]] {
    for (Frame* frame : frames) pool_.release(frame);
    return;
  }
  Impairment* const impairment = impairments_.find(port, Direction::kReceive);
  if (impairment == nullptr) {
    ingress_all(frames, port);
    return;
  }
  const std::uint64_t now_ns = now();
  received_.clear();
  for (Frame* frame : frames) impairment->pass(frame, now_ns, received_);
  ingress_all(received_, port);
}

void Pipeline::ingress_all(std::span<Frame* const> frames, Port& port) {
  if (processing_delay_ns_ != 0) {
    ingress_delayed(frames, port);
    return;
  }
  const std::uint64_t now_ns = now();
  for (Frame* frame : frames) ingress(frame, port, now_ns);
}

// A frame leaves at its own time, not at that of its batch: otherwise those who wait for it would
// idle meanwhile, and the delay would cost more than it says.
void Pipeline::ingress_delayed(std::span<Frame* const> frames, Port& port) {
  for (Frame* frame : frames) {
    spin_for(processing_delay_ns_);
    const std::uint64_t now_ns = now();
    ingress(frame, port, now_ns);
    traffic_manager_.serve_due(now_ns, [&](Port& egress_port) { serve(egress_port, now_ns); });
  }
}

// `port` counts the frame's drops; a program sees `ingress_port`.
void Pipeline::ingress(Frame* frame, std::uint16_t ingress_port, Port& port, std::uint64_t now_ns) {
  dataplane::Packet& packet = frame->packet;
  packet.ingress_port = ingress_port;
  packet.ingress_mac_tstamp_ns = now_ns & kTimestampMask;
  if (tracer_ != nullptr && frame->trace == nullptr) [[unlikely]]
    frame->trace = tracer_->arrive(packet, now_ns, realtime_ns());
  run_ingress(*frame, port, now_ns);
  if (packet.resubmit) {
    packet.resubmitted = true;
    run_ingress(*frame, port, now_ns);
  }
  replicator_.forward(frame, port, now_ns);
}

void Pipeline::run_ingress(Frame& frame, Port& port, std::uint64_t now_ns) {
  if (frame.trace == nullptr) [[likely]] {
    program_->ingress(frame.packet);
  } else {
    frame.trace->ingress(*program_, frame.packet, now_ns);
  }
  if (frame.packet.mirrored) replicator_.mirror(program_->mirror_copy(), frame, true, port, now_ns);
}

void Pipeline::flush() {
  int round = 0;
  while (round < kMaxRounds && run_round()) ++round;
}

// False: nothing was due.
bool Pipeline::run_round() {
  if (traffic_manager_.next_due_ns() == kNever && recirculated_.empty() && in_flight_.empty() &&
      !impairments_.any() && packet_generator_.next_due_ns() == kNever) {
    return false;
  }
  const std::uint64_t now_ns = now();
  bool worked = release_delayed(now_ns);
  worked |= impairments_.any() && release_impaired(now_ns);
  worked |= take_recirculated();
  worked |= generate(now_ns);
  worked |= traffic_manager_.serve_due(now_ns, [&](Port& port) { serve(port, now_ns); });
  return worked;
}

std::uint64_t Pipeline::next_due_ns() const {
  if (!recirculated_.empty()) return 0;
  std::uint64_t next_ns = std::min(
      {traffic_manager_.next_due_ns(), in_flight_.next_due_ns(), packet_generator_.next_due_ns()});
  if (impairments_.any()) next_ns = std::min(next_ns, impairments_.next_due_ns());
  return next_ns;
}

// What a port's delay held back until now.
bool Pipeline::release_delayed(std::uint64_t now_ns) {
  std::array<Frame*, kBatch> batch;
  std::size_t count = 0;
  bool released = false;
  const auto port_of = [](const Frame* frame) { return frame->packet.egress_port; };
  const auto send_batch = [&] {
    if (count > 0) send(std::span(batch.data(), count), *ports_.find(port_of(batch[0])));
    count = 0;
  };
  while (Frame* const frame = in_flight_.take_due(now_ns)) {
    if (count == kBatch || (count > 0 && port_of(frame) != port_of(batch[0]))) send_batch();
    batch[count++] = frame;
    released = true;
  }
  send_batch();
  return released;
}

// What an impairment held back until now.
bool Pipeline::release_impaired(std::uint64_t now_ns) {
  return impairments_.release_due(now_ns, [&](Impairment& impairment, Direction direction) {
    std::vector<Frame*>& released = direction == Direction::kReceive ? received_ : sent_;
    released.clear();
    impairment.release_due(now_ns, released);
    if (direction == Direction::kReceive) {
      ingress_all(released, impairment.port());
    } else {
      send_now(released, impairment.port());
    }
  });
}

bool Pipeline::take_recirculated() {
  if (recirculated_.empty()) return false;
  arriving_.swap(recirculated_);
  const std::uint64_t now_ns = now();
  for (Frame* frame : arriving_) {
    Port& port = *ports_.find(frame->packet.egress_port);
    frame->restart();
    ++port.counters().rx_packets;
    port.counters().rx_bytes += frame->packet.length;
    ingress(frame, port, now_ns);
  }
  arriving_.clear();
  return true;
}

// Generated packets arrive at the recirculation port of their pipe, whatever port they say they
// came by: that one need not be there.
bool Pipeline::generate(std::uint64_t now_ns) {
  return packet_generator_.generate(
      now_ns, kBatch, [&](std::uint16_t ingress_port, std::span<const std::uint8_t> bytes) {
        const std::uint32_t pipe = ingress_port / dataplane::kPortsPerPipe;
        Port* const generating = ports_.find(static_cast<std::uint16_t>(
            pipe * dataplane::kPortsPerPipe + dataplane::kFirstRecirculationPort));
        if (generating == nullptr) return;  // there is no such pipe
        Port& port = *generating;
        Frame* const frame = pool_.available() > reserved_frames(pool_) ? pool_.acquire() : nullptr;
        if (frame == nullptr || bytes.size() > dataplane::kMaxFrame) {
          port.counters().drop(DropReason::kNoBuffer);
          if (frame != nullptr) pool_.release(frame);
          return;
        }
        frame->reset(static_cast<std::uint32_t>(bytes.size()));
        std::copy(bytes.begin(), bytes.end(), frame->packet.data);
        ++port.counters().rx_packets;
        port.counters().rx_bytes += bytes.size();
        ingress(frame, ingress_port, port, now_ns);
      });
}

// What the port has now, and may send now.
void Pipeline::serve(Port& port, std::uint64_t now_ns) {
  std::array<Frame*, kBatch> batch;
  std::uint32_t left = traffic_manager_.queued_frames(port);
  while (left > 0) {
    std::size_t count = 0;
    for (; left > 0 && count < kBatch; --left) {
      Frame* const frame = traffic_manager_.dequeue(port, now_ns);
      if (frame == nullptr) {
        left = 0;
        break;
      }
      if (egress(frame, port, now_ns)) batch[count++] = frame;
    }
    leave(std::span(batch.data(), count), port);
  }
}

// False: egress dropped the frame, and it is released.
bool Pipeline::egress(Frame* frame, Port& port, std::uint64_t now_ns) {
  dataplane::Packet& packet = frame->packet;
  if (packet.bypass_egress) return true;
  packet.drop_ctl = 0;
  packet.mirrored = false;
  if (frame->trace == nullptr) [[likely]] {
    program_->egress(packet);
  } else {
    frame->trace->egress(*program_, packet, now_ns);
  }
  if (packet.mirrored) replicator_.mirror(program_->mirror_copy(), *frame, false, port, now_ns);
  if ((packet.drop_ctl & kDropFrame) == 0) return true;
  count_drop(*frame, port, DropReason::kEgressDrop);
  pool_.release(frame);
  return false;
}

void Pipeline::leave(std::span<Frame* const> frames, Port& port) {
  if (dataplane::is_recirculation_port(port.number())) {
    recirculate(frames, port);
  } else if (const std::uint64_t delay_ns = traffic_manager_.delay_ns(port.number());
             delay_ns != 0) {
    for (Frame* frame : frames) in_flight_.add(frame, frame->left_at_ns + delay_ns);
  } else {
    send(frames, port);
  }
}

void Pipeline::recirculate(std::span<Frame* const> frames, Port& port) {
  for (Frame* frame : frames) {
    if (frame->packet.length > dataplane::kMaxFrame) {
      count_drop(*frame, port, DropReason::kTxOversize);
      pool_.release(frame);
      continue;
    }
    ++port.counters().tx_packets;
    port.counters().tx_bytes += frame->packet.length;
    if (frame->trace != nullptr) [[unlikely]]
      frame->trace->recirculated(port.number());
    packet_generator_.recirculated(port.number(), {frame->packet.data, frame->packet.length},
                                   now());
    recirculated_.push_back(frame);
  }
}

// Both take the ownership of the frames.
void Pipeline::send(std::span<Frame* const> frames, Port& port) {
  Impairment* const impairment = impairments_.find(port, Direction::kSend);
  if (impairment == nullptr) {
    send_now(frames, port);
    return;
  }
  const std::uint64_t now_ns = now();
  sent_.clear();
  for (Frame* frame : frames) impairment->pass(frame, now_ns, sent_);
  send_now(sent_, port);
}

void Pipeline::send_now(std::span<Frame* const> frames, Port& port) {
  if (!port.is_enabled()) [[unlikely]] {
    for (Frame* frame : frames) {
      count_drop(*frame, port, DropReason::kTxLinkDown);
      pool_.release(frame);
    }
    return;
  }
  while (!frames.empty()) {
    const auto batch = frames.first(std::min(kBatch, frames.size()));
    port.send(batch);
    for (std::size_t i = batch.size(); i > 0;) pool_.release(batch[--i]);
    frames = frames.subspan(batch.size());
  }
}

}  // namespace turntable::softswitch
