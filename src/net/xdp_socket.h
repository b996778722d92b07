// An AF_XDP socket at the one receive queue of an interface: rings of frames that have arrived and
// that are to leave. The frames are chunks of an XdpMemory.
#pragma once

#include <xdp/xsk.h>

#include <cstdint>
#include <string>

#include "net/xdp_memory.h"

namespace turntable::net {

inline constexpr std::uint32_t kXdpQueue = 0;
// Of a chunk the kernel keeps 256 bytes in front of a frame; a veth pair takes an XDP program up to
// an MTU of about 3,500.
inline constexpr std::uint32_t kXdpHeadroom = 256;
inline constexpr std::uint32_t kXdpMaxMtu = 3500;
inline constexpr std::uint32_t kLinkHeaderBytes = 18;  // Ethernet with one VLAN tag

class XdpSocket {
 public:
  struct Settings {
    std::uint32_t receive_slots;  // powers of two; 0: none
    std::uint32_t send_slots;
    std::uint16_t bind_flags;  // XDP_COPY, or 0: without copies where the driver can
  };

  // The first socket of `memory` binds it to the interface; further ones share it, and must end
  // before it. Throws errno_error that names the interface.
  XdpSocket(XdpMemory& memory, const std::string& interface, const Settings& settings);
  ~XdpSocket();
  XdpSocket(const XdpSocket&) = delete;
  XdpSocket& operator=(const XdpSocket&) = delete;

  int fd() const noexcept { return ::xsk_socket__fd(socket_); }
  // Throws errno_error. What the map's program redirects to `key` comes to this socket.
  void enter_into(int map, std::uint32_t key) const;
  xsk_ring_cons& received() noexcept { return receive_; }

  // False: no room. The frame leaves with the next send().
  bool submit(std::uint64_t address, std::uint32_t length) noexcept {
    std::uint32_t index = 0;
    if (::xsk_ring_prod__reserve(&send_, 1, &index) == 0) return false;
    xdp_desc& leaving = *::xsk_ring_prod__tx_desc(&send_, index);
    leaving.addr = address;
    leaving.len = length;
    leaving.options = 0;
    ::xsk_ring_prod__submit(&send_, 1);
    return true;
  }

  // Has the kernel send what has been submitted. What it does not take after some retries leaves
  // with the next call. Answers how often the receiver's queue was full.
  std::uint32_t send() noexcept;

  // Frames that were lost since the socket was opened, since its ring or the memory was full.
  std::uint64_t dropped() const noexcept;

 private:
  std::uint32_t left_to_send() const noexcept {
    return *send_.producer - __atomic_load_n(send_.consumer, __ATOMIC_ACQUIRE);
  }

  std::string interface_;
  xsk_socket* socket_ = nullptr;
  xsk_ring_cons receive_{};
  xsk_ring_prod send_{};
};

}  // namespace turntable::net
