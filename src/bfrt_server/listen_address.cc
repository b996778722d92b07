#include "bfrt_server/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "common/unique_fd.h"

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

std::optional<std::string> why_not_listening(const std::string& address, std::uint16_t port) {
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  const bool is_v4 = ::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1;
  if (!is_v4) ::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr);
  const auto* place =
      is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  const UniqueFd probe(::socket(place->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;  // as gRPC has it: connections of an earlier server are no obstacle
  ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(probe.get(), place, is_v4 ? sizeof v4 : sizeof v6) == 0 &&
      ::listen(probe.get(), 1) == 0)
    return std::nullopt;
  return std::generic_category().message(errno);
}

}  // namespace turntable::bfrt_server
