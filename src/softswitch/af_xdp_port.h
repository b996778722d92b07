// A port on a network interface, through an AF_XDP socket in copy mode.
//
// An XDP program at the interface redirects every frame to the socket before the kernel makes much
// of it; it is held by a link that ends with the process, however that ends. Frames pass in memory
// shared with the kernel, one chunk each; so the interface's MTU is limited, and it has one receive
// queue. What differs from AfPacketPort: a tag that the sender's kernel keeps beside the frame is
// lost (ethtool -K DEV txvlan off), partial checksums are not counted, the MTU is that at the
// start.
#pragma once

#include <memory>
#include <vector>

#include "common/unique_fd.h"
#include "net/network_interface.h"
#include "net/xdp_memory.h"
#include "net/xdp_program.h"
#include "net/xdp_socket.h"
#include "softswitch/port.h"

namespace turntable::softswitch {

class AfXdpPort : public Port {
 public:
  // Needs CAP_NET_ADMIN and CAP_BPF. Throws std::runtime_error that names the interface.
  AfXdpPort(std::uint16_t number, const std::string& interface, bool is_cpu,
            int receive_buffer_bytes);

  int fd() const override { return socket_.fd(); }
  std::size_t receive(std::span<Frame*> frames) override;
  void send(std::span<Frame* const> frames) override;
  std::string link_state() override { return link_.state(); }
  void collect_kernel_counters() override;

 private:
  bool has_chunk();
  void submit(const Frame& frame);

  net::NetworkInterface link_;
  UniqueFd claim_;
  std::uint32_t mtu_;
  net::XdpMemory memory_;
  net::XdpSocket socket_;
  std::vector<std::uint64_t> free_;  // chunks to send from
  UniqueFd map_;
  net::XdpProgram program_;
  std::uint64_t dropped_before_ = 0;
};

}  // namespace turntable::softswitch
