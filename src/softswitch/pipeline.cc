#include "softswitch/pipeline.h"

#include <array>

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
    : program_(program), pool_(pool), traffic_manager_(pool, ports) {}

void Pipeline::process(std::span<Frame* const> frames, Port& port) {
  if (processing_delay_ns_ != 0) {
    process_delayed(frames, port);
    return;
  }
  const std::uint64_t now_ns = now();
  for (Frame* frame : frames) ingress(frame, port, now_ns);
}

// A frame leaves at its own time, not at that of its batch: otherwise those who wait for it would
// idle meanwhile, and the delay would cost more than it says.
void Pipeline::process_delayed(std::span<Frame* const> frames, Port& port) {
  for (Frame* frame : frames) {
    spin_for(processing_delay_ns_);
    ingress(frame, port, now());
    flush();
  }
}

void Pipeline::ingress(Frame* frame, Port& port, std::uint64_t now_ns) {
  frame->packet.ingress_port = port.number();
  frame->packet.ingress_mac_tstamp_ns = now_ns & kTimestampMask;
  program_.ingress(frame->packet);
  traffic_manager_.enqueue(frame, port, now_ns);
}

// False: egress dropped it.
bool Pipeline::egress(Frame* frame) {
  dataplane::Packet& packet = frame->packet;
  if (packet.bypass_egress) return true;
  packet.drop_ctl = 0;
  program_.egress(packet);
  return (packet.drop_ctl & kDropFrame) == 0;
}

void Pipeline::flush() {
  if (traffic_manager_.backlogged().empty()) return;
  const std::uint64_t now_ns = now();
  for (Port* port : traffic_manager_.backlogged()) send_all(*port, now_ns);
  traffic_manager_.clear_backlogged();
}

void Pipeline::send_all(Port& port, std::uint64_t now_ns) {
  std::array<Frame*, kBatch> batch;
  Frame* frame = nullptr;
  do {
    std::size_t count = 0;
    while (count < kBatch && (frame = traffic_manager_.dequeue(port, now_ns)) != nullptr) {
      if (egress(frame)) {
        batch[count++] = frame;
      } else {
        port.counters().drop(DropReason::kEgressDrop);
        pool_.release(frame);
      }
    }
    port.send(std::span(batch.data(), count));
    while (count > 0) pool_.release(batch[--count]);
  } while (frame != nullptr);
}

}  // namespace turntable::softswitch
