// What both ends share: a datagram carries the number of its request, and sockets for it.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>

#include "common/command_error.h"
#include "common/unique_fd.h"

namespace turntable::echo {

using RequestNumber = std::uint64_t;  // in the client's byte order: the server sends it back as is

inline sockaddr_in ipv4(const std::string& address, std::uint16_t port) {
  sockaddr_in parsed{};
  parsed.sin_family = AF_INET;
  parsed.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &parsed.sin_addr) != 1) {
    throw bad_argument("address " + address + ": expected an IPv4 address");
  }
  return parsed;
}

inline UniqueFd open_socket(const sockaddr_in& local) {
  UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0)
    throw CommandError("unavailable", "cannot bind a UDP socket, port " +
                                          std::to_string(ntohs(local.sin_port)) +
                                          "; expected a local address and a free port");
  return socket;
}

// Datagrams that the kernel dropped at this socket, for want of room.
inline std::uint32_t socket_drops(int fd) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
  socklen_t length = sizeof info;
  ::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info.data(), &length);
  return info[SK_MEMINFO_DROPS];
}

}  // namespace turntable::echo
