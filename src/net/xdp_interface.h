// An interface of which some UDP ports come to this process through AF_XDP. An XDP program
// redirects their datagrams to the sockets of this class; all other frames pass to the kernel.
//
// Only one process at a time can have an interface in this way. Its sockets share memory and the
// kernel's two rings of chunks, so those are taken under a lock, once per batch.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "net/network_interface.h"
#include "net/xdp_memory.h"
#include "net/xdp_program.h"
#include "net/xdp_socket.h"

namespace turntable::net {

class XdpInterface {
 public:
  static constexpr std::uint32_t kSendChunks = 128;  // of a socket
  static constexpr std::uint32_t kMaxSockets = 64;
  // In front of what the program redirects: when it arrived, CLOCK_MONOTONIC; 0: not known.
  using Stamp = std::uint64_t;

  // The interface of this name in the calling thread's network namespace; stays open until the
  // process ends. Datagrams to `address` alone are redirected. Throws CommandError.
  static std::shared_ptr<XdpInterface> of(const std::string& name, in_addr address);

  const NetworkInterface& link() const noexcept { return link_; }
  const std::string& name() const noexcept { return name_; }
  std::uint32_t mtu() const noexcept { return mtu_; }
  std::uint32_t longest_frame() const noexcept { return memory_.chunks().bytes - kXdpHeadroom; }
  std::uint8_t* at(std::uint64_t address) noexcept { return memory_.at(address); }

  // A share of the memory to send from. Throws CommandError when there is none left.
  unsigned take_share();
  void give_back_share(unsigned share, std::span<const std::uint64_t> chunks);
  // Appends the share's chunks that have been sent.
  void collect_sent(unsigned share, std::vector<std::uint64_t>& chunks) noexcept;
  void give_to_receive(std::span<const std::uint64_t> chunks) noexcept;

  // From now on what comes to the port goes to this socket, until it is closed.
  std::unique_ptr<XdpSocket> open_socket(std::uint16_t port, std::uint32_t receive_slots);
  void close_socket(std::uint16_t port, std::unique_ptr<XdpSocket> socket) noexcept;

 private:
  struct Share {
    bool taken = false;
    std::vector<std::uint64_t> sent;  // chunks that the kernel has given back
  };

  XdpInterface(const std::string& name, in_addr address);

  std::string name_;
  in_addr address_;
  NetworkInterface link_;
  std::uint32_t mtu_;
  std::mutex mutex_;  // of the memory's rings and of the shares
  XdpMemory memory_;
  XdpSocket first_;  // binds the memory to the interface, and gets nothing
  std::array<Share, kMaxSockets> shares_;
  UniqueFd map_;  // by UDP port
  XdpProgram program_;
};

}  // namespace turntable::net
