// Memory that AF_XDP sockets of one interface share with the kernel, in chunks of one frame each.
// The first chunks are there to receive into, the others to send from.
#pragma once

#include <xdp/xsk.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace turntable::net {

// Throws errno_error that names the interface if `result` says so.
void expect_xdp(const std::string& interface, int result, const char* what);

class XdpMemory {
 public:
  struct Chunks {
    std::uint32_t receive;  // both are powers of two
    std::uint32_t send;
    std::uint32_t bytes;  // of one: 2048 or 4096
  };

  XdpMemory(const std::string& interface, const Chunks& chunks);
  ~XdpMemory();
  XdpMemory(const XdpMemory&) = delete;
  XdpMemory& operator=(const XdpMemory&) = delete;

  const Chunks& chunks() const noexcept { return chunks_; }
  std::uint8_t* at(std::uint64_t address) noexcept { return memory_ + address; }
  std::uint64_t send_chunk(std::uint64_t i) const noexcept {
    return (chunks_.receive + i) * chunks_.bytes;
  }
  std::uint64_t chunk_of(std::uint64_t address) const noexcept {
    return address & ~std::uint64_t{chunks_.bytes - 1};
  }

  xsk_umem* umem() noexcept { return umem_; }
  xsk_ring_prod& fill() noexcept { return fill_; }
  xsk_ring_cons& completion() noexcept { return completion_; }

  // Gives a chunk back to receive into; after the last one, filled(). There is room for all.
  void fill(std::uint64_t address) noexcept {
    std::uint32_t index = 0;
    ::xsk_ring_prod__reserve(&fill_, 1, &index);
    *::xsk_ring_prod__fill_addr(&fill_, index) = chunk_of(address);
    ++filled_;
  }
  void filled() noexcept {
    ::xsk_ring_prod__submit(&fill_, filled_);
    filled_ = 0;
  }

  // Calls f(address) for every chunk that has been sent.
  template <typename Function>
  void collect_sent(Function&& f) {
    std::uint32_t index = 0;
    const std::uint32_t count = ::xsk_ring_cons__peek(&completion_, chunks_.send, &index);
    for (std::uint32_t i = 0; i < count; ++i) f(*::xsk_ring_cons__comp_addr(&completion_, index++));
    if (count > 0) ::xsk_ring_cons__release(&completion_, count);
  }

 private:
  Chunks chunks_;
  std::uint8_t* memory_ = nullptr;
  std::size_t memory_bytes_;
  xsk_umem* umem_ = nullptr;
  xsk_ring_prod fill_{};
  xsk_ring_cons completion_{};
  std::uint32_t filled_ = 0;
};

}  // namespace turntable::net
