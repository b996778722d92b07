// Addresses of sockets: IPv4 and a port.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>

namespace turntable::net {

// Throws bad_argument unless `address` is an IPv4 address in dotted form; `what` names it in the
// message.
sockaddr_in parse_ipv4(const std::string& what, const std::string& address, std::uint16_t port);

// Of "198.18.0.1:1000". Throws bad_argument.
sockaddr_in parse_endpoint(const std::string& what, const std::string& text);

// "198.18.0.1:1000".
std::string text_of(const sockaddr_in& address);

inline bool same_endpoint(const sockaddr_in& one, const sockaddr_in& other) noexcept {
  return one.sin_port == other.sin_port && one.sin_addr.s_addr == other.sin_addr.s_addr;
}

// Where the socket is bound.
sockaddr_in address_of(int fd);

}  // namespace turntable::net
