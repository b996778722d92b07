// Where the service may listen: there is no authentication, so whoever reaches it controls
// the switch.
#pragma once

#include <cstdint>
#include <string>

namespace turntable::bfrt_server {

// "ADDRESS:PORT" for gRPC. Throws std::runtime_error for addresses that mean every network of the
// host, for host names, and for what is no address.
std::string listen_address(const std::string& address, std::uint16_t port);

}  // namespace turntable::bfrt_server
