// What both ends share: messages of a fixed size over TCP.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>

#include "common/command_error.h"
#include "common/unique_fd.h"

namespace turntable::pingpong {

inline constexpr std::size_t kMessageBytes = 64;
using Message = std::array<char, kMessageBytes>;

inline sockaddr_in ipv4(const std::string& address, std::int64_t port) {
  sockaddr_in parsed{};
  parsed.sin_family = AF_INET;
  parsed.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, address.c_str(), &parsed.sin_addr) != 1)
    throw bad_argument("address " + address + ": expected an IPv4 address");
  return parsed;
}

inline const sockaddr* any(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

inline void send_at_once(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace turntable::pingpong
