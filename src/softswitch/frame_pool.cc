#include "softswitch/frame_pool.h"

#include <sys/mman.h>

#include <cstring>

#include "common/errno_error.h"

namespace turntable::softswitch {

void Frame::reset(std::uint32_t length) {
  packet = dataplane::Packet{};
  packet.data = buffer + dataplane::kHeadroom;
  packet.length = length;
  packet.headroom = dataplane::kHeadroom;
  packet.tailroom = static_cast<std::uint32_t>(kFrameBufferBytes - dataplane::kHeadroom - length);
}

void Frame::copy_bytes(const Frame& other) {
  reset(other.packet.length);
  std::memcpy(packet.data, other.packet.data, packet.length);
  if (other.trace != nullptr) trace = other.trace->copy("copy");
}

void Frame::restart() {
  const dataplane::Packet before = packet;
  reset(before.length);
  if (packet.data != before.data) std::memmove(packet.data, before.data, before.length);
}

FramePool::FramePool(std::size_t frames) : frames_(frames) {
  const std::size_t bytes = frames * kFrameBufferBytes;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw errno_error("cannot map " + std::to_string(bytes) + " bytes of frame buffers");
  ::madvise(memory, bytes, MADV_HUGEPAGE);  // fewer TLB misses where it works; only a hint
  memory_ = static_cast<std::uint8_t*>(memory);
  for (std::size_t i = frames; i-- > 0;) {
    frames_[i].buffer = memory_ + i * kFrameBufferBytes;
    release(&frames_[i]);
  }
}

FramePool::~FramePool() {
  ::munmap(memory_, frames_.size() * kFrameBufferBytes);
}

}  // namespace turntable::softswitch
