// The receive ring of a packet socket, version 2: slots shared with the kernel, each taken in turn
// (packet_mmap in the kernel's documentation).
#pragma once

#include <linux/if_packet.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace turntable::softswitch {

class PacketRing {
 public:
  // Of a packet socket that is not bound yet; at least `slots`. A slot has room for `frame_bytes`;
  // of a longer frame it has the first ones. Throws std::system_error.
  PacketRing(int socket, std::size_t slots, std::size_t frame_bytes);
  ~PacketRing();
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;

  // The slot with the `ahead`-th frame from the next one on; nullptr: it has not arrived. `ahead`
  // is less than the number of slots.
  tpacket2_hdr* peek(std::size_t ahead = 0) const {
    const std::size_t index = next_ + ahead;
    tpacket2_hdr* const slot = slots_[index < slots_.size() ? index : index - slots_.size()];
    const bool arrived =
        (__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
    return arrived ? slot : nullptr;
  }
  static std::uint8_t* frame_of(tpacket2_hdr* slot) {
    return reinterpret_cast<std::uint8_t*>(slot) + slot->tp_mac;
  }

  // Gives the slot of the next frame back to the kernel.
  void pop() {
    __atomic_store_n(&slots_[next_]->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    if (++next_ == slots_.size()) next_ = 0;
  }

 private:
  std::size_t memory_bytes_ = 0;
  std::uint8_t* memory_ = nullptr;
  std::vector<tpacket2_hdr*> slots_;  // in the order in which they are filled
  std::size_t next_ = 0;
};

}  // namespace turntable::softswitch
