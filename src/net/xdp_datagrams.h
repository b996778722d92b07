// Datagrams through AF_XDP: written and read where the kernel sends and receives them, in memory
// shared with it (net/xdp_interface.h).
//
// A socket of the kernel has the port too, so that nobody else takes it; what the XDP program lets
// pass, such as fragments, ends there unread. Errors by ICMP are not seen.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "common/unique_fd.h"
#include "net/datagrams.h"
#include "net/neighbours.h"
#include "net/udp_frame.h"
#include "net/xdp_interface.h"

namespace turntable::net {

class XdpDatagrams final : public Datagrams {
 public:
  explicit XdpDatagrams(const DatagramSettings& settings);
  ~XdpDatagrams() override;

  int receive() noexcept override;
  Received at(std::size_t i) const noexcept override { return received_[i]; }

  bool full() const noexcept override { return end_ == kBatch; }
  std::size_t waiting() const noexcept override { return end_ - begin_; }
  std::size_t capacity() const noexcept override { return kBatch; }
  std::span<std::uint8_t> buffer() noexcept override;
  void add(std::size_t bytes, const sockaddr_in* to, std::uint8_t dscp,
           std::uint32_t tag) noexcept override;
  void flush(std::size_t count, FailedCallback failed) noexcept override;

  int fd() const noexcept override { return socket_->fd(); }
  sockaddr_in local() const override { return flow_.from; }
  std::size_t buffer_bytes() const override;
  std::uint32_t drops() const override;

 private:
  static constexpr std::size_t kBatch = 64;

  struct Leaving {
    std::uint64_t chunk;
    std::uint32_t bytes;
    std::uint32_t tag;
    int error;  // 0: it can be sent
  };

  void take_in(const xdp_desc& arrived, std::int64_t to_realtime_ns) noexcept;
  void recycle() noexcept;
  int address(const sockaddr_in* to) noexcept;
  std::uint8_t* chunk_or_spare() noexcept;

  UniqueFd reserved_;
  std::shared_ptr<XdpInterface> interface_;
  Neighbours neighbours_;
  unsigned share_;
  std::uint32_t receive_slots_;
  std::unique_ptr<XdpSocket> socket_;
  std::size_t datagram_bytes_;
  bool connected_;
  sockaddr_in peer_{};  // if connected
  UdpFlow flow_{};      // of the datagram that was written last

  std::array<Received, kBatch> received_;
  std::size_t received_count_ = 0;
  std::vector<std::uint64_t> read_;  // chunks of the batch
  std::atomic<std::uint32_t> wrong_{0};

  std::vector<std::uint64_t> free_;  // chunks to send from
  std::vector<std::uint8_t> spare_;  // written to where there is no chunk, and never sent
  std::array<Leaving, kBatch> leaving_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace turntable::net
