// Received frames of a packet socket in memory shared with the kernel (PACKET_RX_RING of packet(7),
// TPACKET_V2): no system call, and no buffer of the kernel's, per frame.
#pragma once

#include <linux/if_packet.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace turntable::softswitch {

// One thread.
class PacketRing {
 public:
  // A slot has room for a frame of the usual MTU. Of a longer one it holds the beginning, and the
  // socket's own queue the whole (PACKET_COPY_THRESH), in the same order.
  static constexpr std::size_t kSlotBytes = 2048;
  static constexpr std::size_t kBlockBytes = 32 * kSlotBytes;

  // Before the socket is bound. Takes `bytes`, cut to whole blocks but at least one; the kernel
  // drops (and counts) what arrives while all slots are full. Throws std::system_error that names
  // `interface`.
  PacketRing(int socket, std::size_t bytes, const std::string& interface);
  ~PacketRing();
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;

  // The oldest frame, or nullptr.
  const tpacket2_hdr* front() const {
    const auto* slot = reinterpret_cast<const tpacket2_hdr*>(memory_ + next_ * kSlotBytes);
    const std::uint32_t status = __atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE);
    return (status & TP_STATUS_USER) != 0 ? slot : nullptr;
  }

  // Gives the slot of front(), which is not nullptr, back to the kernel.
  void pop() {
    auto* slot = reinterpret_cast<tpacket2_hdr*>(memory_ + next_ * kSlotBytes);
    __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    if (++next_ == slots_) next_ = 0;
  }

  // What of the frame is in its slot: tp_snaplen bytes.
  static const std::uint8_t* bytes(const tpacket2_hdr& slot) {
    return reinterpret_cast<const std::uint8_t*>(&slot) + slot.tp_mac;
  }

 private:
  std::size_t slots_;
  std::size_t next_ = 0;
  std::uint8_t* memory_ = nullptr;
};

}  // namespace turntable::softswitch
