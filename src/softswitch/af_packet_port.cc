#include "softswitch/af_packet_port.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "common/errno_error.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23  // since Linux 4.20
#endif

namespace turntable::softswitch {
namespace {

constexpr std::uint16_t kNoProtocol = 0;
constexpr int kSendRetries = 16;
constexpr int kSendWaitMs = 2;  // per retry, for a full send buffer
constexpr int kSendBufferBytes = 4 << 20;
constexpr std::uint32_t kVlanTagBytes = 4;
constexpr std::uint32_t kMacAddressesBytes = 12;

// The kernel keeps the outermost tag beside the frame; on the wire it stands after the addresses.
void restore_vlan_tag(dataplane::Packet& packet, const tpacket2_hdr& arrived) {
  if ((arrived.tp_status & TP_STATUS_VLAN_VALID) == 0 || packet.length < kMacAddressesBytes) return;
  const bool has_tpid = (arrived.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
  const std::array<std::uint16_t, 2> tag = {htons(has_tpid ? arrived.tp_vlan_tpid : ETHERTYPE_VLAN),
                                            htons(arrived.tp_vlan_tci)};
  packet.data -= kVlanTagBytes;
  packet.headroom -= kVlanTagBytes;
  packet.length += kVlanTagBytes;
  std::memmove(packet.data, packet.data + kVlanTagBytes, kMacAddressesBytes);
  std::memcpy(packet.data + kMacAddressesBytes, tag.data(), kVlanTagBytes);
}

bool is_transient(int error) {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM;
}

DropReason reason_of(int error) {
  if (is_transient(error)) return DropReason::kTxQueueFull;
  if (error == EMSGSIZE) return DropReason::kTxOversize;
  if (error == ENETDOWN || error == ENXIO || error == ENODEV) return DropReason::kTxLinkDown;
  return DropReason::kTxFailed;
}

int index_of(std::uint16_t number, const std::string& interface) {
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index != 0) return static_cast<int>(index);
  throw std::runtime_error("port " + std::to_string(number) + ": there is no interface \"" +
                           interface + "\" in this network namespace; `ip link` shows them");
}

}  // namespace

AfPacketPort::AfPacketPort(std::uint16_t number, const std::string& interface, bool is_cpu,
                           int receive_buffer_bytes)
    : Port(number, interface, is_cpu),
      interface_index_(index_of(number, interface)),
      send_socket_(open_socket()),
      receive_socket_(open_socket()),
      ring_(receive_socket_.get(), static_cast<std::size_t>(receive_buffer_bytes), interface) {
  set_option(receive_socket_, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
  set_option(receive_socket_, SOL_SOCKET, SO_RCVBUFFORCE, receive_buffer_bytes, "SO_RCVBUFFORCE");
  set_option(send_socket_, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
  set_option(send_socket_, SOL_SOCKET, SO_SNDBUFFORCE, kSendBufferBytes, "SO_SNDBUFFORCE");
  receive_all_addresses();
  bind(send_socket_, kNoProtocol);
  bind(receive_socket_, ETH_P_ALL);
  for (std::size_t i = 0; i < kBatch; ++i) {
    messages_[i].msg_hdr.msg_iov = &vectors_[i];
    messages_[i].msg_hdr.msg_iovlen = 1;
  }
}

// Nothing is received until everything is set and the socket is bound with a protocol.
UniqueFd AfPacketPort::open_socket() {
  UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, kNoProtocol));
  if (!socket) throw errno_error("cannot create a packet socket (it needs CAP_NET_RAW)");
  return socket;
}

void AfPacketPort::set_option(const UniqueFd& socket, int level, int option, int value,
                              const char* name) {
  if (::setsockopt(socket.get(), level, option, &value, sizeof(value)) != 0)
    throw errno_error("interface " + interface() + ": cannot set " + name);
}

void AfPacketPort::bind(const UniqueFd& socket, std::uint16_t protocol) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(protocol);
  address.sll_ifindex = interface_index_;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw errno_error("cannot bind a packet socket to interface " + interface());
}

void AfPacketPort::receive_all_addresses() {
  packet_mreq membership{};
  membership.mr_ifindex = interface_index_;
  membership.mr_type = PACKET_MR_PROMISC;
  if (::setsockopt(receive_socket_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership,
                   sizeof(membership)) != 0)
    throw errno_error("interface " + interface() + ": cannot set PACKET_MR_PROMISC");
}

std::size_t AfPacketPort::receive(std::span<Frame*> frames) {
  std::size_t kept = 0;
  for (std::size_t taken = 0; taken < frames.size(); ++taken) {
    const tpacket2_hdr* const arrived = ring_.front();
    if (arrived == nullptr) {
      if (taken == 0) clear_errors();
      break;
    }
    if (accept(*arrived, *frames[kept])) ++kept;
    ring_.pop();
  }
  return kept;
}

bool AfPacketPort::accept(const tpacket2_hdr& arrived, Frame& frame) {
  if ((arrived.tp_status & TP_STATUS_COPY) != 0) {
    if (!copy_whole_frame(frame)) return false;
  } else if (arrived.tp_snaplen < arrived.tp_len) {
    counters().drop(DropReason::kRxQueueFull);  // the queue of long frames
    return false;
  } else {
    frame.reset(arrived.tp_len);
    std::memcpy(frame.packet.data, PacketRing::bytes(arrived), arrived.tp_len);
  }
  if ((arrived.tp_status & TP_STATUS_CSUMNOTREADY) != 0) ++counters().checksum_not_ready;
  restore_vlan_tag(frame.packet, arrived);
  ++counters().rx_packets;
  counters().rx_bytes += frame.packet.length;
  return true;
}

// A frame that is too long for a slot waits in the socket's queue.
bool AfPacketPort::copy_whole_frame(Frame& frame) {
  const auto receive_one = [&] {
    return ::recv(receive_socket_.get(), frame.buffer + dataplane::kHeadroom, dataplane::kMaxFrame,
                  MSG_DONTWAIT | MSG_TRUNC);
  };
  ssize_t length = receive_one();
  if (length < 0) length = receive_one();  // the first told an error of the link
  if (length < 0 || length > static_cast<ssize_t>(dataplane::kMaxFrame)) {
    counters().drop(length < 0 ? DropReason::kRxQueueFull : DropReason::kRxOversize);
    return false;
  }
  frame.reset(static_cast<std::uint32_t>(length));
  return true;
}

// That the link went down is told once by each socket: to epoll until somebody asks, and to the
// next send. link_state() tells it from then on.
void AfPacketPort::clear_errors() {
  for (const UniqueFd* socket : {&receive_socket_, &send_socket_}) {
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(socket->get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
}

void AfPacketPort::send(std::span<Frame* const> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i)
    vectors_[i] = {frames[i]->packet.data, frames[i]->packet.length};
  int retries = 0;
  for (std::size_t next = 0; next < frames.size();) {
    const int sent = ::sendmmsg(send_socket_.get(), &messages_[next],
                                static_cast<unsigned>(frames.size() - next), MSG_DONTWAIT);
    if (sent > 0) {
      counters().tx_packets += static_cast<std::uint64_t>(sent);
      for (int i = 0; i < sent; ++i) counters().tx_bytes += frames[next++]->packet.length;
      retries = 0;
    } else if (is_transient(errno) && retries < kSendRetries) {
      ++retries;
      wait_for_room(errno);
    } else if (errno != EINTR) {
      counters().drop(reason_of(errno));
      ++next;
      retries = 0;
    }
  }
}

// EAGAIN: the socket's send buffer is full, which poll can wait for. ENOBUFS: the receiver's
// backlog is; the kernel thread that empties it needs the processor.
void AfPacketPort::wait_for_room(int error) const {
  if (error == EAGAIN) {
    pollfd polled{send_socket_.get(), POLLOUT, 0};
    ::poll(&polled, 1, kSendWaitMs);
  } else {
    ::sched_yield();
  }
}

std::string AfPacketPort::link_state() {
  if (static_cast<int>(::if_nametoindex(interface().c_str())) != interface_index_) return "removed";
  ifreq request{};
  interface().copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(send_socket_.get(), SIOCGIFFLAGS, &request) != 0) return "removed";
  return (request.ifr_flags & IFF_RUNNING) != 0 ? "up" : "down";
}

void AfPacketPort::collect_kernel_counters() {
  tpacket_stats statistics{};
  socklen_t size = sizeof(statistics);
  // Reading clears them.
  if (::getsockopt(receive_socket_.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0)
    counters().drop(DropReason::kRxQueueFull, statistics.tp_drops);
}

}  // namespace turntable::softswitch
