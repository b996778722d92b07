#include "p4runtime_server/cpu_port.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "common/errno_error.h"
#include "p4runtime_server/refusal.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23  // since Linux 4.20
#endif

namespace turntable::p4runtime_server {
namespace {

constexpr int kSocketBytes = 8 << 20;
constexpr std::size_t kLongestFrame = 16384;

UniqueFd open_interface(const std::string& interface) {
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index == 0) {
    throw std::runtime_error("--cpu-interface " + interface +
                             ": there is no such interface in this network namespace; `ip link` "
                             "shows them");
  }
  UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) throw errno_error("cannot create a packet socket (it needs CAP_NET_RAW)");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kSocketBytes, sizeof(kSocketBytes));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kSocketBytes, sizeof(kSocketBytes));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw errno_error("cannot bind a packet socket to interface " + interface);
  return socket;
}

Refusal why_not_sent(int error, const std::string& interface, std::size_t bytes) {
  const std::string what = "a frame of " + std::to_string(bytes) + " bytes for the CPU port";
  switch (error) {
    case EMSGSIZE:
      return invalid(what + " exceeds the MTU of interface " + interface);
    case EINVAL:
      return invalid(what + " is no Ethernet frame: it is too short");
    case EAGAIN:
    case ENOBUFS:
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              what + ": interface " + interface + " takes no more now"};
    default:
      return {grpc::StatusCode::UNAVAILABLE,
              what + ": interface " + interface + ": " + std::strerror(error)};
  }
}

}  // namespace

CpuPort::CpuPort(const std::string& interface, OnFrame on_frame)
    : interface_(interface),
      on_frame_(std::move(on_frame)),
      socket_(open_interface(interface)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (!stop_) throw errno_error("cannot create an eventfd");
  thread_ = std::thread([this] { receive_all(); });
}

CpuPort::~CpuPort() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void CpuPort::send(std::string_view frame) {
  if (::send(socket_.get(), frame.data(), frame.size(), MSG_DONTWAIT) < 0)
    throw why_not_sent(errno, interface_, frame.size());
}

void CpuPort::receive_all() {
  std::array<char, kLongestFrame> buffer;
  std::array<pollfd, 2> sources{{{socket_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while (::poll(sources.data(), sources.size(), -1) >= 0 || errno == EINTR) {
    if (sources[1].revents != 0) return;
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    // An interface that goes down is an error of one call.
    if (size > 0) on_frame_({buffer.data(), static_cast<std::size_t>(size)});
  }
}

}  // namespace turntable::p4runtime_server
