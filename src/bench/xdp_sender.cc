#include "bench/xdp_sender.h"

#include <linux/if_xdp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstring>

#include "common/errno_error.h"

namespace turntable::bench {
namespace {

constexpr std::uint32_t kQueue = 0;
constexpr std::uint32_t kFrames = 1024;  // that are added or on their way to the receiver
constexpr std::size_t kMemoryBytes = kFrames * XdpSender::kMaxFrame;

void expect(int result, const char* what, const std::string& interface) {
  if (result < 0) throw errno_error("interface " + interface + ": " + what, -result);
}

}  // namespace

XdpSender::XdpSender(const std::string& interface) {
  void* const memory =
      ::mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw errno_error("cannot map memory for AF_XDP");
  memory_ = static_cast<std::uint8_t*>(memory);
  const xsk_umem_config shared{.fill_size = XSK_RING_PROD__DEFAULT_NUM_DESCS,
                               .comp_size = kFrames,
                               .frame_size = kMaxFrame,
                               .frame_headroom = 0,
                               .flags = 0};
  expect(::xsk_umem__create(&umem_, memory_, kMemoryBytes, &fill_, &sent_, &shared),
         "cannot register memory for AF_XDP", interface);
  xsk_socket_config config{};
  config.tx_size = kFrames;
  config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
  config.bind_flags = XDP_COPY;
  expect(::xsk_socket__create(&socket_, interface.c_str(), kQueue, umem_, nullptr, &send_, &config),
         "cannot open an AF_XDP socket (it needs CAP_NET_ADMIN)", interface);
  for (std::uint64_t i = 0; i < kFrames; ++i) free_.push_back(i * kMaxFrame);
}

XdpSender::~XdpSender() {
  if (socket_ != nullptr) ::xsk_socket__delete(socket_);
  if (umem_ != nullptr) ::xsk_umem__delete(umem_);
  if (memory_ != nullptr) ::munmap(memory_, kMemoryBytes);
}

void XdpSender::add(std::span<const std::uint8_t> frame) {
  while (free_.empty()) {
    flush();
    collect_sent();
    if (free_.empty()) ::sched_yield();  // the receivers have them all
  }
  std::uint32_t index = 0;
  ::xsk_ring_prod__reserve(&send_, 1, &index);  // there is room for every free frame
  xdp_desc& leaving = *::xsk_ring_prod__tx_desc(&send_, index);
  leaving.addr = free_.back();
  leaving.len = static_cast<std::uint32_t>(frame.size());
  leaving.options = 0;
  free_.pop_back();
  std::memcpy(memory_ + leaving.addr, frame.data(), frame.size());
  ::xsk_ring_prod__submit(&send_, 1);
}

void XdpSender::flush() {
  while (__atomic_load_n(send_.consumer, __ATOMIC_ACQUIRE) != *send_.producer) kick();
}

// The kernel sends some of them per call.
void XdpSender::kick() {
  if (::sendto(::xsk_socket__fd(socket_), nullptr, 0, MSG_DONTWAIT, nullptr, 0) >= 0) return;
  if (errno == EAGAIN || errno == ENOBUFS || errno == EBUSY) {
    ::sched_yield();  // a queue of the receiver is full
  } else if (errno != EINTR) {
    throw errno_error("cannot send through AF_XDP");
  }
}

void XdpSender::collect_sent() {
  std::uint32_t index = 0;
  const std::uint32_t count = ::xsk_ring_cons__peek(&sent_, kFrames, &index);
  for (std::uint32_t i = 0; i < count; ++i)
    free_.push_back(*::xsk_ring_cons__comp_addr(&sent_, index++));
  ::xsk_ring_cons__release(&sent_, count);
}

}  // namespace turntable::bench
