// What fabric-replay and ns3-replay share: which packets, which network, and what is told.
//
//   PROGRAM FILE --hosts 32 [--hosts-per-leaf 16 --spines 4] [--gbps 10] [--core-gbps 40]
//           [--link-delay-us 0.25]
//
// FILE is homa-sim's "packets". Switches take no time but their ports'. Prints one JSON object:
// packets, those delivered, processor time of forwarding them in s ("cpu_s"), and for each priority
// the packets and the mean and 99th percentile of their delay in ns, from their last bit at the
// sender to their last bit at the receiver.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "homa/simulation/fabric.h"
#include "homa/simulation/packet_trace.h"

namespace turntable::bench {

using homa::simulation::FabricSettings;
using homa::simulation::kQueues;
using homa::simulation::TracedPacket;

class Delays {
 public:
  void add(const TracedPacket& packet, std::int64_t arrived_at_ps) {
    ps_[packet.priority].push_back(arrived_at_ps - packet.left_at_ps);
  }

  // Sorts them.
  std::string json(std::size_t packets, double cpu_s);

 private:
  std::array<std::vector<std::int64_t>, kQueues> ps_;
};

// Forwards all packets, which are in the order of leaving.
using Forward =
    std::function<void(const FabricSettings&, const std::vector<TracedPacket>&, Delays&)>;

// main() of both.
int replay(const char* program, const char* purpose, int argc, char** argv, const Forward& forward);

}  // namespace turntable::bench
