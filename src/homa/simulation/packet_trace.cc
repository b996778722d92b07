#include "homa/simulation/packet_trace.h"

#include <algorithm>
#include <fstream>
#include <ostream>
#include <sstream>

#include "common/command_error.h"

namespace turntable::homa::simulation {
namespace {

TracedPacket parse(const std::string& line, const std::string& where, std::uint32_t hosts) {
  std::istringstream numbers(line);
  TracedPacket packet;
  numbers >> packet.left_at_ps >> packet.from >> packet.to >> packet.priority >> packet.wire_bytes;
  if (!numbers || packet.from >= hosts || packet.to >= hosts || packet.priority >= kQueues ||
      packet.wire_bytes == 0)
    throw bad_argument(where + ": \"" + line + "\"; expected left_at_ps, from and to (below " +
                       std::to_string(hosts) + "), priority (below 8), wire_bytes");
  return packet;
}

}  // namespace

void write(std::ostream& file, const TracedPacket& packet) {
  file << packet.left_at_ps << ' ' << packet.from << ' ' << packet.to << ' ' << packet.priority
       << ' ' << packet.wire_bytes << '\n';
}

std::vector<TracedPacket> read_packet_trace(const std::string& file, std::uint32_t hosts) {
  std::ifstream lines(file);
  std::vector<TracedPacket> packets;
  for (std::string line; std::getline(lines, line);)
    packets.push_back(parse(line, file + ":" + std::to_string(packets.size() + 1), hosts));
  if (packets.empty())
    throw bad_argument(file + ": no packets, or cannot be read; expected what homa-sim writes " +
                       "with \"packets\": FILE");
  std::ranges::stable_sort(packets, {}, &TracedPacket::left_at_ps);
  return packets;
}

}  // namespace turntable::homa::simulation
