#include "mcload/server_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/errno_error.h"
#include "node/arguments.h"

namespace turntable::mcload {
namespace {

constexpr int kBacklog = 1024;

std::string with_port(const std::string& host, std::uint16_t port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

void set_no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int socket_error(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

// A connection to an ordinary file is refused as well.
bool is_socket(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

const char* expected_after(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return "a limit of open files above the number of connections (`ulimit -n`)";
    case EADDRNOTAVAIL:
      return "fewer connections: this host has no port left for another one";
    default:
      return "it to listen there (`memcached -l ADDRESS -p PORT`, or `-s PATH`)";
  }
}

CommandError no_connection(const std::string& where, const std::string& server, int error) {
  return CommandError("unavailable", where + ": no connection to the memcached at " + server +
                                         ": " + std::strerror(error) + "; expected " +
                                         expected_after(error));
}

}  // namespace

ServerAddress ServerAddress::tcp(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) {
    throw std::invalid_argument("server \"" + host + "\": " + ::gai_strerror(failed) +
                                "; expected an address or a name that this host can resolve");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  // Of "localhost" the first may be ::1, and `memcached -l 127.0.0.1` is not there.
  const addrinfo* chosen = found;
  while (chosen != nullptr && chosen->ai_family != AF_INET) chosen = chosen->ai_next;
  if (chosen == nullptr) chosen = found;
  ServerAddress server;
  server.text_ = with_port(host, port);
  std::memcpy(&server.address_, chosen->ai_addr, chosen->ai_addrlen);
  server.length_ = chosen->ai_addrlen;
  return server;
}

ServerAddress ServerAddress::unix_socket(const std::string& path) {
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    throw std::invalid_argument("socket \"" + path + "\": expected a path of 1 to " +
                                std::to_string(sizeof address.sun_path - 1) + " characters");
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ServerAddress server;
  server.text_ = path;
  std::memcpy(&server.address_, &address, sizeof address);
  server.length_ = sizeof address;
  return server;
}

ServerAddress ServerAddress::parse(const std::string& text) {
  if (text.starts_with('/')) return unix_socket(text);
  std::string host = text, rest;
  if (text.starts_with('[')) {
    const std::size_t end = std::min(text.find(']'), text.size());
    host = text.substr(1, end - 1);
    rest = end == text.size() ? text : text.substr(end + 1);
  } else if (const std::size_t colon = text.find(':'); colon == text.rfind(':')) {
    // More than one colon is an IPv6 address without a port.
    host = text.substr(0, colon);
    if (colon != std::string::npos) rest = text.substr(colon);
  }
  if (rest.empty()) return tcp(host, kDefaultPort);
  std::uint16_t port = 0;
  const char* const end = rest.data() + rest.size();
  const auto read = std::from_chars(rest.data() + 1, end, port);
  if (rest.front() != ':' || read.ec != std::errc() || read.ptr != end || port == 0) {
    throw std::invalid_argument("server \"" + text +
                                "\": expected HOST, HOST:PORT or [IPV6]:PORT with a port of 1 to "
                                "65535, or /PATH");
  }
  return tcp(host, port);
}

ServerAddress ServerAddress::from_json(const std::string& where, const nlohmann::json& server) {
  const node::Arguments fields(where + ", server", server, {"address", "port", "socket"});
  try {
    if (server.contains("socket")) {
      if (server.size() > 1)
        fields.fail("socket", server.at("socket"), "no address and port beside a socket");
      return unix_socket(fields.text("socket"));
    }
    return tcp(fields.text("address"),
               static_cast<std::uint16_t>(fields.integer_or("port", 1, 65535, kDefaultPort)));
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ": " + error.what());
  }
}

UniqueFd ServerAddress::begin_connect(bool no_delay) const noexcept {
  UniqueFd fd(::socket(address_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  if (is_tcp() && no_delay) set_no_delay(fd.get());
  const auto* address = reinterpret_cast<const sockaddr*>(&address_);
  if (::connect(fd.get(), address, length_) != 0 && errno != EINPROGRESS) {
    const int error = errno;
    fd.reset();
    errno = error;
  }
  return fd;
}

UniqueFd ServerAddress::connect(const std::string& where, std::int64_t deadline_ns,
                                bool no_delay) const {
  for (;;) {
    UniqueFd fd = begin_connect(no_delay);
    // A UNIX socket's queue of connections may be full for a moment.
    const bool is_full = !fd && errno == EAGAIN;
    if (!fd && !is_full) throw no_connection(where, text_, errno);
    pollfd polled{fd.get(), POLLOUT, 0};
    const std::int64_t left_ns = deadline_ns - monotonic_ns();
    if (left_ns <= 0) throw no_connection(where, text_, ETIMEDOUT);
    const int wait_ms = is_full ? 1 : static_cast<int>(left_ns / 1'000'000 + 1);
    const int ready = ::poll(&polled, 1, wait_ms);
    if (is_full || (ready < 0 && errno == EINTR)) continue;
    if (ready <= 0) throw no_connection(where, text_, ETIMEDOUT);
    if (const int error = socket_error(fd.get()); error != 0)
      throw no_connection(where, text_, error);
    return fd;
  }
}

UniqueFd ServerAddress::listen() const {
  UniqueFd fd(::socket(address_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) throw errno_error("cannot create a socket");
  const auto* address = reinterpret_cast<const sockaddr*>(&address_);
  if (is_tcp()) {
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  } else if (!begin_connect(false) && errno == ECONNREFUSED && is_socket(text_)) {
    ::unlink(text_.c_str());
  }
  if (::bind(fd.get(), address, length_) != 0 || ::listen(fd.get(), kBacklog) != 0)
    throw errno_error("cannot listen at " + text_);
  return fd;
}

}  // namespace turntable::mcload
