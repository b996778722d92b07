#include "net/ipv4.h"

#include <arpa/inet.h>

#include <charconv>
#include <system_error>

#include "common/command_error.h"

namespace turntable::net {

sockaddr_in parse_ipv4(const std::string& what, const std::string& address, std::uint16_t port) {
  sockaddr_in parsed{};
  parsed.sin_family = AF_INET;
  parsed.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &parsed.sin_addr) != 1) {
    throw bad_argument(what + " is \"" + address + "\"; expected an IPv4 address like 198.18.0.1");
  }
  return parsed;
}

sockaddr_in parse_endpoint(const std::string& what, const std::string& text) {
  const std::size_t colon = text.find(':');
  std::uint16_t port = 0;
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [behind, error] = std::from_chars(text.data() + colon + 1, end, port);
    if (error != std::errc() || behind != end) port = 0;
  }
  if (port == 0)
    throw bad_argument(what + " is \"" + text + "\"; expected HOST:PORT, as 198.18.0.1:1000");
  return parse_ipv4(what, text.substr(0, colon), port);
}

std::string text_of(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = "?";
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return std::string(text) + ":" + std::to_string(ntohs(address.sin_port));
}

sockaddr_in address_of(int fd) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  return address;
}

}  // namespace turntable::net
