#include "net/xdp_socket.h"

#include <bpf/bpf.h>
#include <linux/if_xdp.h>
#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "common/deadline.h"

namespace turntable::net {
namespace {

constexpr int kSendRetries = 64;
constexpr double kQueueDeadlineS = 5;
constexpr std::chrono::milliseconds kProbeInterval(5);

}  // namespace

XdpSocket::XdpSocket(XdpMemory& memory, const std::string& interface, const Settings& settings)
    : interface_(interface) {
  xsk_socket_config config{};
  config.rx_size = settings.receive_slots;
  config.tx_size = settings.send_slots;
  config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
  config.bind_flags = settings.bind_flags;
  // The kernel gives a queue back some time after the process that had it has ended.
  const Deadline given_back = Deadline::after_seconds(kQueueDeadlineS);
  int result = 0;
  while ((result = ::xsk_socket__create_shared(
              &socket_, interface.c_str(), kXdpQueue, memory.umem(),
              settings.receive_slots > 0 ? &receive_ : nullptr, &send_, &memory.fill(),
              &memory.completion(), &config)) == -EBUSY &&
         !given_back.passed()) {
    std::this_thread::sleep_for(kProbeInterval);  // waits: interval of a probe with a deadline
  }
  expect_xdp(interface, result,
             "cannot open an AF_XDP socket (one process per interface; it needs CAP_NET_ADMIN)");
}

XdpSocket::~XdpSocket() {
  ::xsk_socket__delete(socket_);
}

void XdpSocket::enter_into(int map, std::uint32_t key) const {
  const int socket = fd();
  if (::bpf_map_update_elem(map, &key, &socket, BPF_ANY) != 0)
    expect_xdp(interface_, -errno, "cannot enter the AF_XDP socket");
}

// The kernel takes some of them per call.
std::uint32_t XdpSocket::send() noexcept {
  std::uint32_t full = 0;
  int retries = 0;
  for (std::uint32_t left = left_to_send(); left > 0 && retries <= kSendRetries;) {
    if (::sendto(fd(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0 && errno == EBUSY) ++full;
    const std::uint32_t still_left = left_to_send();
    if (still_left == left) {
      ++retries;
      ::sched_yield();
    } else {
      retries = 0;
    }
    left = still_left;
  }
  return full;
}

std::uint64_t XdpSocket::dropped() const noexcept {
  xdp_statistics statistics{};
  socklen_t size = sizeof(statistics);
  if (::getsockopt(fd(), SOL_XDP, XDP_STATISTICS, &statistics, &size) != 0) return 0;
  return statistics.rx_dropped + statistics.rx_ring_full;
}

}  // namespace turntable::net
