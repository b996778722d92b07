#include "net/udp.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/command_error.h"

namespace turntable::net {
namespace {

// Linux charges a datagram of this size to the buffer as its whole memory (truesize): a page from
// a veth at worst.
constexpr std::size_t kChargedBytes = 4096;
constexpr std::size_t kMinBufferBytes = std::size_t{256} << 10;

CommandError socket_error(const std::string& what, int error) {
  std::string message = what + ": " + std::strerror(error);
  if (error == EADDRINUSE) {
    message += "; another process or logical server uses the port: choose a free one or stop it";
  } else if (error == EADDRNOTAVAIL) {
    message += "; expected an address of this host (see --address)";
    return bad_argument(message);
  }
  return CommandError("unavailable", message);
}

void set_buffer(int fd, int forced, int plain, std::size_t bytes) {
  const int value = static_cast<int>(std::min<std::size_t>(bytes, 1 << 30));
  if (::setsockopt(fd, SOL_SOCKET, forced, &value, sizeof value) != 0) {
    ::setsockopt(fd, SOL_SOCKET, plain, &value, sizeof value);  // cut to the system's limit
  }
}

// With `shared`, several sockets may be bound to `local`.
UniqueFd open_bound(const sockaddr_in& local, std::size_t datagrams, bool shared) {
  UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) throw socket_error("cannot create a UDP socket", errno);
  const std::size_t bytes = std::max(kMinBufferBytes, datagrams * kChargedBytes);
  set_buffer(fd.get(), SO_RCVBUFFORCE, SO_RCVBUF, bytes);
  set_buffer(fd.get(), SO_SNDBUFFORCE, SO_SNDBUF, bytes);
  const int on = 1;
  if (shared && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) {
    throw socket_error("cannot share a UDP port", errno);
  }
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0) {
    throw socket_error("cannot switch on receive time stamps", errno);
  }
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0) {
    throw socket_error("cannot bind UDP " + text_of(local), errno);
  }
  return fd;
}

}  // namespace

UniqueFd open_udp(const sockaddr_in& local, std::size_t datagrams) {
  return open_bound(local, datagrams, /*shared=*/false);
}

SplitSockets open_split_udp(const sockaddr_in& local, std::size_t datagrams, std::uint16_t type) {
  SplitSockets sockets;
  sockets.all_else = open_bound(local, datagrams, /*shared=*/true);
  sockets.of_type = open_bound(address_of(sockets.all_else.get()), datagrams, /*shared=*/true);
  // Sees the UDP payload; its answer is a socket's number, in the order in which they were bound.
  std::array<sock_filter, 4> by_type = {
      {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, type, 0, 1),
       BPF_STMT(BPF_RET | BPF_K, 1), BPF_STMT(BPF_RET | BPF_K, 0)}};
  const sock_fprog program = {.len = by_type.size(), .filter = by_type.data()};
  if (::setsockopt(sockets.all_else.get(), SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program,
                   sizeof program) != 0) {
    throw socket_error("cannot tell datagrams apart by type", errno);
  }
  return sockets;
}

void connect_udp(int fd, const sockaddr_in& remote) {
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&remote), sizeof remote) != 0) {
    throw socket_error("no route to UDP " + text_of(remote), errno);
  }
}

std::size_t receive_buffer_bytes(int fd) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  ::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
  return static_cast<std::size_t>(bytes);
}

std::uint32_t socket_drops(int fd) {
  // Unlike SO_RXQ_OVFL, this also counts what was dropped after the last datagram received.
  std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
  socklen_t length = sizeof info;
  ::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info.data(), &length);
  return info[SK_MEMINFO_DROPS];
}

ReceiveBatch::ReceiveBatch(Details details, std::size_t datagram_bytes)
    : bytes_(kBatch * datagram_bytes) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    Slot& slot = slots_[i];
    slot.iov = {.iov_base = bytes_.data() + i * datagram_bytes, .iov_len = datagram_bytes};
    headers_[i] = {};
    headers_[i].msg_hdr.msg_iov = &slot.iov;
    headers_[i].msg_hdr.msg_iovlen = 1;
    if (details == Details::kSenderAndStamp) headers_[i].msg_hdr.msg_name = &slot.from;
    if (details == Details::kSenderAndStamp || i == 0) {
      headers_[i].msg_hdr.msg_control = slot.control.data();
    }
  }
}

int ReceiveBatch::receive(int fd) noexcept {
  for (mmsghdr& header : headers_) {  // the kernel overwrites these
    header.msg_hdr.msg_namelen = header.msg_hdr.msg_name == nullptr ? 0 : sizeof(sockaddr_in);
    header.msg_hdr.msg_controllen = header.msg_hdr.msg_control == nullptr ? 0 : kControlBytes;
  }
  const int count = ::recvmmsg(fd, headers_.data(), kBatch, MSG_DONTWAIT, nullptr);
  if (count >= 0) return count;
  return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

ReceiveBatch::Datagram ReceiveBatch::at(std::size_t i) const noexcept {
  const mmsghdr& header = headers_[i];
  const iovec& iov = slots_[i].iov;
  Datagram datagram{.bytes = {static_cast<const std::uint8_t*>(iov.iov_base), header.msg_len},
                    .from = slots_[i].from,
                    .has_stamp = false,
                    .received_ns = 0,
                    .truncated = (header.msg_hdr.msg_flags & MSG_TRUNC) != 0};
  auto* message = const_cast<msghdr*>(&header.msg_hdr);
  for (cmsghdr* c = CMSG_FIRSTHDR(message); c != nullptr; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp;
    std::memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
    datagram.has_stamp = true;
    datagram.received_ns = stamp.tv_sec * std::int64_t{1'000'000'000} + stamp.tv_nsec;
  }
  return datagram;
}

SendBatch::SendBatch(std::size_t datagram_bytes)
    : datagram_bytes_(datagram_bytes), bytes_(kBatch * datagram_bytes) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    slots_[i].iov = {.iov_base = bytes_.data() + i * datagram_bytes, .iov_len = 0};
    headers_[i] = {};
    headers_[i].msg_hdr.msg_iov = &slots_[i].iov;
    headers_[i].msg_hdr.msg_iovlen = 1;
  }
}

void SendBatch::add(std::size_t bytes, const sockaddr_in* to, std::uint8_t dscp,
                    std::uint32_t tag) noexcept {
  Slot& slot = slots_[size_];
  msghdr& header = headers_[size_].msg_hdr;
  slot.iov.iov_len = bytes;
  slot.tag = tag;
  if (to != nullptr) slot.to = *to;
  header.msg_name = to != nullptr ? &slot.to : nullptr;
  header.msg_namelen = to != nullptr ? sizeof slot.to : 0;
  // The kernel's work for a control message is spared where there is nothing to say.
  header.msg_control = dscp != 0 ? slot.control.data() : nullptr;
  header.msg_controllen = dscp != 0 ? slot.control.size() : 0;
  if (dscp != 0) {
    const int type_of_service = dscp << 2;  // the lower two bits are ECN's
    cmsghdr* message = CMSG_FIRSTHDR(&header);
    *message = {.cmsg_len = CMSG_LEN(sizeof type_of_service),
                .cmsg_level = IPPROTO_IP,
                .cmsg_type = IP_TOS};
    std::memcpy(CMSG_DATA(message), &type_of_service, sizeof type_of_service);
  }
  ++size_;
}

int SendBatch::send_some(int fd, std::size_t end) noexcept {
  for (bool retried = false;;) {
    const int sent = ::sendmmsg(fd, headers_.data() + sent_, static_cast<unsigned>(end - sent_), 0);
    if (sent > 0) return sent;
    // A pending ICMP error (the peer's port was closed) is reported once instead of sending.
    if (errno == ECONNREFUSED && !retried) {
      retried = true;
    } else if (errno != EINTR) {
      return -errno;
    }
  }
}

}  // namespace turntable::net
