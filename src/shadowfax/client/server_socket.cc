#include "shadowfax/client/server_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

#include "common/clock.h"
#include "net/handshake.h"

namespace turntable::shadowfax {

SessionError system_failure(const std::string& what) {
  return SessionError(what + ": " + std::strerror(errno));
}

UniqueFd connect_to(const std::string& address, std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &at.sin_addr) != 1)
    throw SessionError("server " + address + "; expected an IPv4 address");
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) throw system_failure("cannot open a socket");
  // A server that is stopped must not hold up a thread that has others.
  const timeval longest{.tv_sec = net::Handshake::kDeadlineNs / kSecondNs, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
    throw system_failure("cannot connect to the server " + address + ":" + std::to_string(port));
  }
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return socket;
}

void send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw system_failure("cannot send to the server");
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

std::size_t receive_in_time(int socket, std::span<std::byte> into) {
  for (;;) {
    const ssize_t bytes = ::recv(socket, into.data(), into.size(), 0);
    if (bytes > 0) return static_cast<std::size_t>(bytes);
    if (bytes == 0) throw SessionError("the server does not open the session: it hangs up");
    if (errno == EAGAIN) throw SessionError("the server does not open the session: no answer");
    if (errno != EINTR) throw system_failure("cannot receive from the server");
  }
}

std::size_t send_now(int socket, std::span<const std::byte> bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const ssize_t now =
        ::send(socket, bytes.data() + taken, bytes.size() - taken, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0 && errno == EAGAIN) break;
    if (now < 0) throw system_failure("cannot send to the server");
    taken += static_cast<std::size_t>(now);
  }
  return taken;
}

std::size_t receive_now(int socket, std::span<std::byte> into) {
  const ssize_t bytes = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
  if (bytes == 0) throw SessionError("the server has closed the session");
  if (bytes < 0 && errno != EAGAIN && errno != EINTR)
    throw system_failure("cannot receive from the server");
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace turntable::shadowfax
