// Packets that hosts handed to their links, so that other programs can forward the same ones: a
// line each, its numbers separated by spaces:
//
//   left_at_ps (its last bit, at its host)  from  to (hosts, from 0)  priority (7 first) wire_bytes
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "homa/simulation/fabric.h"

namespace turntable::homa::simulation {

struct TracedPacket {
  std::int64_t left_at_ps = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t priority = 0;
  std::uint32_t wire_bytes = 0;
};

void write(std::ostream& file, const TracedPacket& packet);

// By time of leaving. Throws bad_argument with file and line for what is no such packet of
// `hosts` hosts, and for a file without packets.
std::vector<TracedPacket> read_packet_trace(const std::string& file, std::uint32_t hosts);

}  // namespace turntable::homa::simulation
