// Preallocated frame buffers: nothing is allocated per packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/packet_tracer.h"
#include "dataplane/program.h"

namespace turntable::softswitch {

// A frame and its metadata on the way through the switch. Exactly one part of the switch owns it at
// any time: the pool, the receiver, the traffic manager or the sender.
struct Frame {
  dataplane::Packet packet;
  std::uint8_t* buffer = nullptr;  // kFrameBufferBytes; a received frame begins at kHeadroom
  Frame* next = nullptr;           // in a queue of the traffic manager, or in the pool
  dataplane::TracedFrame* trace = nullptr;  // nullptr: the packet is not traced
  std::uint64_t left_at_ns = 0;  // its port's queues; the port's wire, where it has a link

  // Metadata of a frame of `length` bytes that was just received into buffer + kHeadroom.
  void reset(std::uint32_t length);

  // The bytes of `other` with metadata as above; of a traced packet, a traced copy.
  void copy_bytes(const Frame& other);

  // The same bytes as if just received: what a recirculated frame is.
  void restart();
};

inline constexpr std::size_t kFrameBufferBytes =
    dataplane::kHeadroom + dataplane::kMaxFrame + dataplane::kHeadroom;

// One thread. Last released is first acquired, so a lightly loaded switch works on buffers that are
// in the cache.
class FramePool {
 public:
  explicit FramePool(std::size_t frames);
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  Frame* acquire() {  // nullptr: all frames are in use
    Frame* frame = free_;
    if (frame == nullptr) return nullptr;
    free_ = frame->next;
    --available_;
    return frame;
  }
  void release(Frame* frame) {
    if (frame->trace != nullptr) [[unlikely]] {
      frame->trace->end();
      frame->trace = nullptr;
    }
    frame->next = free_;
    free_ = frame;
    ++available_;
  }
  std::size_t available() const { return available_; }
  std::size_t capacity() const { return frames_.size(); }

 private:
  std::vector<Frame> frames_;
  std::uint8_t* memory_ = nullptr;
  Frame* free_ = nullptr;
  std::size_t available_ = 0;
};

}  // namespace turntable::softswitch
