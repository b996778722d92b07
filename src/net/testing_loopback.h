// Addresses for tests.
#pragma once

#include "net/ipv4.h"

namespace turntable::net::testing {

// Port 0: any that is free.
inline sockaddr_in loopback(std::uint16_t port = 0) {
  return parse_ipv4("test", "127.0.0.1", port);
}

}  // namespace turntable::net::testing
