// Sends frames out of an interface through an AF_XDP socket, the cheapest way that the kernel has
// on a veth: no message header and no address per frame, one system call per batch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/xdp_memory.h"
#include "net/xdp_socket.h"

namespace turntable::bench {

class XdpSender {
 public:
  // An interface of the calling thread's network namespace. Throws std::system_error.
  explicit XdpSender(const std::string& interface);

  // Copies a frame of at most kMaxFrame bytes. It leaves with the next flush().
  void add(std::span<const std::uint8_t> frame);
  void flush();

  static constexpr std::size_t kMaxFrame = 2048;

 private:
  void collect_sent();

  net::XdpMemory memory_;
  net::XdpSocket socket_;
  std::vector<std::uint64_t> free_;  // chunks to send from
};

}  // namespace turntable::bench
