#include "softswitch/packet_ring.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "common/errno_error.h"

namespace turntable::softswitch {

PacketRing::PacketRing(int socket, std::size_t bytes, const std::string& interface) {
  const std::size_t blocks = std::max<std::size_t>(bytes / kBlockBytes, 1);
  slots_ = blocks * (kBlockBytes / kSlotBytes);
  const auto set = [&](int option, const auto& value, const std::string& name) {
    if (::setsockopt(socket, SOL_PACKET, option, &value, sizeof(value)) != 0)
      throw errno_error("interface " + interface + ": cannot set " + name);
  };
  const int version = TPACKET_V2;
  set(PACKET_VERSION, version, "PACKET_VERSION");
  const int every_longer_frame = 1;
  set(PACKET_COPY_THRESH, every_longer_frame, "PACKET_COPY_THRESH");
  tpacket_req request{};
  request.tp_block_size = kBlockBytes;
  request.tp_block_nr = static_cast<unsigned>(blocks);
  request.tp_frame_size = kSlotBytes;
  request.tp_frame_nr = static_cast<unsigned>(slots_);
  set(PACKET_RX_RING, request,
      "PACKET_RX_RING of " + std::to_string(blocks * kBlockBytes) + " bytes");
  void* memory =
      ::mmap(nullptr, slots_ * kSlotBytes, PROT_READ | PROT_WRITE, MAP_SHARED, socket, 0);
  if (memory == MAP_FAILED)
    throw errno_error("interface " + interface + ": cannot map the ring of its packet socket");
  memory_ = static_cast<std::uint8_t*>(memory);
}

PacketRing::~PacketRing() {
  ::munmap(memory_, slots_ * kSlotBytes);
}

}  // namespace turntable::softswitch
