// Where the service may listen: there is no authentication, so whoever reaches it controls
// the switch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace turntable::bfrt_server {

// "ADDRESS:PORT" for gRPC. Throws std::runtime_error for addresses that mean every network of the
// host, for host names, and for what is no address.
std::string listen_address(const std::string& address, std::uint16_t port);

// What the kernel has against a listener at a listen_address() of these, for instance "Address
// already in use"; nothing if it has nothing against it.
std::optional<std::string> why_not_listening(const std::string& address, std::uint16_t port);

}  // namespace turntable::bfrt_server
