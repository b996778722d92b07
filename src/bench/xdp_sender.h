// Sends frames out of an interface through an AF_XDP socket, the cheapest way that the kernel has
// on a veth: no message header and no address per frame, one system call per batch.
#pragma once

#include <xdp/xsk.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace turntable::bench {

class XdpSender {
 public:
  // An interface of the calling thread's network namespace. Throws std::system_error.
  explicit XdpSender(const std::string& interface);
  ~XdpSender();
  XdpSender(const XdpSender&) = delete;
  XdpSender& operator=(const XdpSender&) = delete;

  // Copies a frame of at most kMaxFrame bytes. It leaves with the next flush().
  void add(std::span<const std::uint8_t> frame);
  void flush();

  static constexpr std::size_t kMaxFrame = 2048;

 private:
  void collect_sent();
  void kick();

  std::uint8_t* memory_ = nullptr;
  xsk_umem* umem_ = nullptr;
  xsk_socket* socket_ = nullptr;
  xsk_ring_prod fill_{};  // for receiving, which it does not do
  xsk_ring_cons sent_{};
  xsk_ring_prod send_{};
  std::vector<std::uint64_t> free_;  // where in memory_ there is room for a frame
};

}  // namespace turntable::bench
