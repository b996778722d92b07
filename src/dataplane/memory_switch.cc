#include "dataplane/memory_switch.h"

#include <algorithm>

#include "common/command_error.h"

namespace turntable::dataplane {
namespace {

constexpr std::uint8_t kDropUnicast = 1;

bool has_unicast_copy(const Packet& packet) {
  return packet.has_ucast_egress_port && (packet.drop_ctl & kDropUnicast) == 0;
}

}  // namespace

MemorySwitch::MemorySwitch(Program& program)
    : program_(program), buffer_(kHeadroom + kMaxFrame + kHeadroom) {}

std::vector<Frame> MemorySwitch::inject(const Frame& frame) {
  if (frame.bytes.size() > kMaxFrame) {
    throw bad_argument("a frame of " + std::to_string(frame.bytes.size()) +
                       " bytes is longer than " + std::to_string(kMaxFrame));
  }
  std::copy(frame.bytes.begin(), frame.bytes.end(), buffer_.begin() + kHeadroom);
  Packet packet;
  packet.data = buffer_.data() + kHeadroom;
  packet.length = static_cast<std::uint32_t>(frame.bytes.size());
  packet.headroom = kHeadroom;
  packet.tailroom = static_cast<std::uint32_t>(buffer_.size() - kHeadroom - packet.length);
  packet.ingress_port = frame.port;

  program_.ingress(packet);
  if (!has_unicast_copy(packet)) return {};
  packet.egress_port = packet.ucast_egress_port;
  if (!packet.bypass_egress) {
    packet.drop_ctl = 0;
    program_.egress(packet);
    if ((packet.drop_ctl & kDropUnicast) != 0) return {};
  }
  const char* bytes = reinterpret_cast<const char*>(packet.data);
  return {Frame{packet.egress_port, std::string(bytes, packet.length)}};
}

}  // namespace turntable::dataplane
