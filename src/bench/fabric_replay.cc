// fabric-replay: homa-sim's links and switches forward packets that it wrote (packet_replay.h).
#include "bench/packet_replay.h"
#include "homa/simulation/events.h"

namespace turntable::bench {
namespace {

using homa::simulation::Event;
using homa::simulation::EventKind;
using homa::simulation::Events;
using homa::simulation::Fabric;
using homa::simulation::Frame;

void forward(const FabricSettings& settings, const std::vector<TracedPacket>& packets,
             Delays& delays) {
  Events events;
  Fabric fabric(settings, events);
  events.at(packets.front().left_at_ps, EventKind::kArrival, 0);
  while (!events.empty()) {
    const Event event = events.take();
    switch (event.kind) {
      case EventKind::kArrival: {
        const TracedPacket& packet = packets[event.index];
        Frame frame{.from = packet.from, .to = packet.to, .wire_bytes = packet.wire_bytes};
        frame.packet.priority = static_cast<std::uint8_t>(packet.priority);
        frame.packet.id.sequence = event.index;
        fabric.inject(frame, event.at_ps);
        if (const std::uint32_t next = event.index + 1; next < packets.size())
          events.at(packets[next].left_at_ps, EventKind::kArrival, next);
        break;
      }
      case EventKind::kAtSwitch:
        fabric.at_switch(event.frame, event.index);
        break;
      case EventKind::kPortFree:
        fabric.port_free(event.index);
        break;
      case EventKind::kAtHost:
        delays.add(packets[fabric.take(event.frame).packet.id.sequence], event.at_ps);
        break;
      case EventKind::kUplinkFree:
      case EventKind::kTick:
        break;  // hosts' own, of which there are none here
    }
  }
}

}  // namespace
}  // namespace turntable::bench

int main(int argc, char** argv) {
  return turntable::bench::replay("fabric-replay",
                                  "Forwards packets through homa-sim's links and switches", argc,
                                  argv, turntable::bench::forward);
}
