#include "softswitch/af_packet_port.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/errno_error.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23  // since Linux 4.20
#endif

namespace turntable::softswitch {
namespace {

constexpr std::uint16_t kNoProtocol = 0;
constexpr int kPacketRetries = 16;
constexpr int kSendWaitMs = 2;  // per retry, for a full send buffer
constexpr int kSendBufferBytes = 4 << 20;
constexpr std::uint32_t kVlanTagBytes = 4;
constexpr std::uint32_t kMacAddressesBytes = 12;

const tpacket_auxdata* find_auxdata(msghdr& header) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level == SOL_PACKET && item->cmsg_type == PACKET_AUXDATA)
      return reinterpret_cast<const tpacket_auxdata*>(CMSG_DATA(item));
  }
  return nullptr;
}

// The kernel keeps the outermost tag beside the frame; on the wire it stands after the addresses.
void restore_vlan_tag(dataplane::Packet& packet, const tpacket_auxdata& auxdata) {
  if ((auxdata.tp_status & TP_STATUS_VLAN_VALID) == 0 || packet.length < kMacAddressesBytes) return;
  const bool has_tpid = (auxdata.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
  const std::array<std::uint16_t, 2> tag = {htons(has_tpid ? auxdata.tp_vlan_tpid : ETHERTYPE_VLAN),
                                            htons(auxdata.tp_vlan_tci)};
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

}  // namespace

AfPacketPort::AfPacketPort(std::uint16_t number, const std::string& interface, bool is_cpu,
                           int receive_buffer_bytes)
    : Port(number, interface, is_cpu),
      link_(interface, "port " + std::to_string(number) + ": "),
      claim_(claim_for_port(link_, number, interface)),
      send_socket_(open_socket()),
      receive_socket_(open_socket()) {
  set_option(receive_socket_, SOL_PACKET, PACKET_AUXDATA, 1, "PACKET_AUXDATA");
  set_option(receive_socket_, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
  set_option(receive_socket_, SOL_SOCKET, SO_RCVBUFFORCE, receive_buffer_bytes, "SO_RCVBUFFORCE");
  set_option(send_socket_, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
  set_option(send_socket_, SOL_SOCKET, SO_SNDBUFFORCE, kSendBufferBytes, "SO_SNDBUFFORCE");
  receive_all_addresses();
  bind(send_socket_, kNoProtocol);
  bind(receive_socket_, ETH_P_ALL);
  for (std::size_t i = 0; i < kBatch; ++i) {
    rx_vectors_[i].iov_len = dataplane::kMaxFrame;
    rx_messages_[i].msg_hdr.msg_iov = &rx_vectors_[i];
    rx_messages_[i].msg_hdr.msg_iovlen = 1;
    rx_messages_[i].msg_hdr.msg_control = rx_control_[i].data();
    tx_messages_[i].msg_hdr.msg_iov = &tx_vectors_[i];
    tx_messages_[i].msg_hdr.msg_iovlen = 1;
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
    throw errno_error("interface " + interface() + ": cannot set " + name +
                      (errno == EPERM ? " (it needs CAP_NET_ADMIN)" : ""));
}

void AfPacketPort::bind(const UniqueFd& socket, std::uint16_t protocol) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(protocol);
  address.sll_ifindex = link_.index();
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw errno_error("cannot bind a packet socket to interface " + interface());
}

void AfPacketPort::receive_all_addresses() {
  packet_mreq membership{};
  membership.mr_ifindex = link_.index();
  membership.mr_type = PACKET_MR_PROMISC;
  if (::setsockopt(receive_socket_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership,
                   sizeof(membership)) != 0)
    throw errno_error("interface " + interface() + ": cannot set PACKET_MR_PROMISC");
}

std::size_t AfPacketPort::receive(std::span<Frame*> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    rx_vectors_[i].iov_base = frames[i]->buffer + dataplane::kHeadroom;
    rx_messages_[i].msg_hdr.msg_controllen = sizeof(ControlBuffer);
  }
  const int received = ::recvmmsg(receive_socket_.get(), rx_messages_.data(),
                                  static_cast<unsigned>(frames.size()), MSG_DONTWAIT, nullptr);
  if (received <= 0) {
    clear_errors();
    return 0;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(received); ++i) {
    if (accept(*frames[i], rx_messages_[i])) std::swap(frames[kept++], frames[i]);
  }
  return kept;
}

bool AfPacketPort::accept(Frame& frame, mmsghdr& message) {
  if ((message.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
    counters().drop(DropReason::kRxOversize);
    return false;
  }
  frame.reset(message.msg_len);
  if (const tpacket_auxdata* auxdata = find_auxdata(message.msg_hdr); auxdata != nullptr) {
    if ((auxdata->tp_status & TP_STATUS_CSUMNOTREADY) != 0) ++counters().checksum_not_ready;
    restore_vlan_tag(frame.packet, *auxdata);
  }
  ++counters().rx_packets;
  counters().rx_bytes += frame.packet.length;
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
    tx_vectors_[i] = {frames[i]->packet.data, frames[i]->packet.length};
  int retries = 0;
  for (std::size_t next = 0; next < frames.size();) {
    const int sent = ::sendmmsg(send_socket_.get(), &tx_messages_[next],
                                static_cast<unsigned>(frames.size() - next), MSG_DONTWAIT);
    if (sent > 0) {
      counters().tx_packets += static_cast<std::uint64_t>(sent);
      for (int i = 0; i < sent; ++i) {
        const Frame& frame = *frames[next++];
        counters().tx_bytes += frame.packet.length;
        if (frame.trace != nullptr) [[unlikely]]
          frame.trace->sent(number(), frame.packet.length);
      }
      retries = 0;
    } else if (is_transient(errno) && retries < kPacketRetries) {
      ++retries;
      wait_for_room(errno);
    } else if (errno != EINTR) {
      count_drop(*frames[next++], *this, reason_of(errno));
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

void AfPacketPort::collect_kernel_counters() {
  tpacket_stats statistics{};
  socklen_t size = sizeof(statistics);
  // Reading clears them.
  if (::getsockopt(receive_socket_.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0)
    counters().drop(DropReason::kRxQueueFull, statistics.tp_drops);
}

}  // namespace turntable::softswitch
