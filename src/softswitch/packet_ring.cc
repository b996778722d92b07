#include "softswitch/packet_ring.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <string>

#include "common/errno_error.h"

namespace turntable::softswitch {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kBlockBytes = 1 << 16;  // contiguous memory of the kernel's
// Before a frame: the slot's header and the address, and what aligns the bytes behind the link
// header.
constexpr std::size_t kOverhead = TPACKET2_HDRLEN + 16;

// An odd number of cache lines, so that the slots do not compete for the same sets of a cache.
std::size_t slot_bytes_for(std::size_t frame_bytes) {
  return (((frame_bytes + kOverhead + kCacheLine - 1) / kCacheLine) | 1U) * kCacheLine;
}

}  // namespace

PacketRing::PacketRing(int socket, std::size_t slots, std::size_t frame_bytes) {
  const std::size_t slot_bytes = slot_bytes_for(frame_bytes);
  const std::size_t per_block = kBlockBytes / slot_bytes;
  const std::size_t blocks = (slots + per_block - 1) / per_block;
  const int version = TPACKET_V2;
  if (::setsockopt(socket, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) != 0)
    throw errno_error("cannot set PACKET_VERSION");
  tpacket_req request{};
  request.tp_block_size = kBlockBytes;
  request.tp_block_nr = static_cast<unsigned>(blocks);
  request.tp_frame_size = static_cast<unsigned>(slot_bytes);
  request.tp_frame_nr = static_cast<unsigned>(per_block * blocks);
  memory_bytes_ = kBlockBytes * blocks;
  if (::setsockopt(socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) != 0)
    throw errno_error("cannot set PACKET_RX_RING of " + std::to_string(memory_bytes_) + " bytes");
  void* const memory =
      ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, socket, 0);
  if (memory == MAP_FAILED) throw errno_error("cannot map the ring of a packet socket");
  memory_ = static_cast<std::uint8_t*>(memory);
  slots_.reserve(per_block * blocks);
  for (std::size_t i = 0; i < per_block * blocks; ++i) {
    std::uint8_t* const slot = memory_ + i / per_block * kBlockBytes + i % per_block * slot_bytes;
    slots_.push_back(reinterpret_cast<tpacket2_hdr*>(slot));
  }
}

PacketRing::~PacketRing() {
  ::munmap(memory_, memory_bytes_);
}

}  // namespace turntable::softswitch
