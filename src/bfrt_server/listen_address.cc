#include "bfrt_server/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <stdexcept>

namespace turntable::bfrt_server {
namespace {

std::runtime_error every_network(const std::string& address) {
  return std::runtime_error(
      "--address " + address +
      ": this would listen on every network of the host. There is no authentication: whoever "
      "reaches the port controls the switch. Give the address of the loopback (127.0.0.1) or of "
      "the "
      "control network");
}

}  // namespace

std::string listen_address(const std::string& address, std::uint16_t port) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    if (v4.s_addr == INADDR_ANY || v4.s_addr == INADDR_BROADCAST ||
        IN_MULTICAST(ntohl(v4.s_addr))) {
      throw every_network(address);
    }
    return address + ":" + std::to_string(port);
  }
  if (::inet_pton(AF_INET6, address.c_str(), &v6) == 1) {
    const bool mapped_any = IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr32[3] == INADDR_ANY;
    if (IN6_IS_ADDR_UNSPECIFIED(&v6) || IN6_IS_ADDR_MULTICAST(&v6) || mapped_any)
      throw every_network(address);
    return "[" + address + "]:" + std::to_string(port);
  }
  throw std::runtime_error("--address " + address +
                           ": expected an IPv4 or IPv6 address, for instance 127.0.0.1");
}

}  // namespace turntable::bfrt_server
