// A port on a network interface, through packet sockets (packet(7)).
//
// Frames are received by one socket and sent by another: one that epoll watches would be woken for
// every frame that has left it.
//
// Frames are those of the wire: a VLAN tag that the kernel took out is put back. The sender's
// transmit offloads have to be off (ethtool -K DEV tx off): a partial checksum is counted
// (checksum_not_ready), a segmented super-frame is dropped as too long.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>

#include "common/unique_fd.h"
#include "net/network_interface.h"
#include "softswitch/port.h"

namespace turntable::softswitch {

// Bytes of received frames that the kernel holds for a port, with its overhead (about 0.8 to 2.3 KB
// per small frame).
inline constexpr int kDefaultReceiveBufferBytes = 16 << 20;

class AfPacketPort : public Port {
 public:
  // Needs CAP_NET_RAW and CAP_NET_ADMIN. Throws std::runtime_error that names the interface. An
  // interface that is down is accepted.
  AfPacketPort(std::uint16_t number, const std::string& interface, bool is_cpu,
               int receive_buffer_bytes = kDefaultReceiveBufferBytes);

  int fd() const override { return receive_socket_.get(); }
  std::size_t receive(std::span<Frame*> frames) override;
  void send(std::span<Frame* const> frames) override;
  std::string link_state() override { return link_.state(); }
  void collect_kernel_counters() override;

 private:
  // Room for one PACKET_AUXDATA message.
  using ControlBuffer = std::array<std::uint64_t, 8>;

  static UniqueFd open_socket();
  void set_option(const UniqueFd& socket, int level, int option, int value, const char* name);
  void bind(const UniqueFd& socket, std::uint16_t protocol);
  void receive_all_addresses();
  bool accept(Frame& frame, mmsghdr& message);
  void clear_errors();
  void wait_for_room(int error) const;

  net::NetworkInterface link_;
  UniqueFd claim_;
  UniqueFd send_socket_;  // opened first: of two sockets the kernel tells it first of a link's end
  UniqueFd receive_socket_;
  std::array<iovec, kBatch> rx_vectors_{};
  std::array<ControlBuffer, kBatch> rx_control_{};
  std::array<mmsghdr, kBatch> rx_messages_{};
  std::array<iovec, kBatch> tx_vectors_{};
  std::array<mmsghdr, kBatch> tx_messages_{};
};

}  // namespace turntable::softswitch
