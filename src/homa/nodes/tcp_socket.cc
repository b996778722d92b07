#include "homa/nodes/tcp_socket.h"

// Not netinet/tcp.h, whose tcp_info ends before the minimum round trip.
#include <linux/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "common/command_error.h"
#include "net/ipv4.h"

namespace turntable::homa {
namespace {

constexpr int kBacklog = 4096;
constexpr std::uint32_t kNoRoundTrip = UINT32_MAX;

CommandError failed(const std::string& what, int error) {
  return CommandError("unavailable", what + ": " + std::strerror(error));
}

void set(int fd, int level, int option, int value, const char* name) {
  if (::setsockopt(fd, level, option, &value, sizeof value) != 0)
    throw failed(std::string("cannot set ") + name + " of a TCP socket", errno);
}

void set_congestion_control(int fd) {
  const auto length = static_cast<socklen_t>(std::strlen(kCongestionControl));
  if (::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, kCongestionControl, length) == 0) return;
  throw failed(std::string("cannot set TCP's congestion control to ") + kCongestionControl +
                   "; expected it in net.ipv4.tcp_available_congestion_control (`modprobe tcp_" +
                   kCongestionControl + "`, or a kernel that has it)",
               errno);
}

UniqueFd open_tcp(std::uint32_t buffer_bytes) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) throw failed("cannot create a TCP socket", errno);
  set(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
  set_congestion_control(fd.get());
  if (buffer_bytes > 0) {
    set(fd.get(), SOL_SOCKET, SO_SNDBUF, static_cast<int>(buffer_bytes), "SO_SNDBUF");
    set(fd.get(), SOL_SOCKET, SO_RCVBUF, static_cast<int>(buffer_bytes), "SO_RCVBUF");
  }
  return fd;
}

void bind_to(int fd, const sockaddr_in& local) {
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0)
    throw failed("cannot bind a TCP socket to " + net::text_of(local), errno);
}

}  // namespace

UniqueFd listen_tcp(const sockaddr_in& local, std::uint32_t buffer_bytes) {
  UniqueFd fd = open_tcp(buffer_bytes);
  // Connections of the iteration before may still be in TIME_WAIT.
  set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  bind_to(fd.get(), local);
  if (::listen(fd.get(), kBacklog) != 0)
    throw failed("cannot listen at " + net::text_of(local), errno);
  return fd;
}

UniqueFd begin_connect_tcp(const sockaddr_in& local, const sockaddr_in& remote,
                           std::uint32_t buffer_bytes) {
  UniqueFd fd = open_tcp(buffer_bytes);
  sockaddr_in from = local;
  from.sin_port = 0;
  set(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1, "IP_BIND_ADDRESS_NO_PORT");
  bind_to(fd.get(), from);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&remote), sizeof remote) != 0 &&
      errno != EINPROGRESS) {
    throw failed("cannot connect to " + net::text_of(remote), errno);
  }
  return fd;
}

Accepted accept_tcp(int listener) noexcept {
  Accepted accepted;
  socklen_t length = sizeof accepted.from;
  accepted.fd.reset(::accept4(listener, reinterpret_cast<sockaddr*>(&accepted.from), &length,
                              SOCK_NONBLOCK | SOCK_CLOEXEC));
  return accepted;
}

int socket_error(int fd) noexcept {
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

TcpInfo tcp_info(int fd) noexcept {
  ::tcp_info info{};
  socklen_t length = sizeof info;
  ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length);
  const bool is_measured = info.tcpi_min_rtt != 0 && info.tcpi_min_rtt != kNoRoundTrip;
  return {info.tcpi_total_retrans,
          is_measured ? std::optional<std::uint32_t>(info.tcpi_min_rtt) : std::nullopt};
}

std::string congestion_control_of(int fd) {
  std::array<char, 16> name{};
  socklen_t length = name.size();
  if (::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) return "";
  return name.data();
}

}  // namespace turntable::homa
