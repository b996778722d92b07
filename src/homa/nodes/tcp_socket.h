// Sockets of TCP as all nodes have them: they never wait, send at once (TCP_NODELAY), and have
// cubic, whatever the system's own congestion control is.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <string>

#include "common/unique_fd.h"

namespace turntable::homa {

inline constexpr const char* kCongestionControl = "cubic";

// `buffer_bytes`: of the socket, for each direction; 0: as the system likes. All throw
// CommandError.
UniqueFd listen_tcp(const sockaddr_in& local, std::uint32_t buffer_bytes);
// On its way to `remote`, from any port of `local`: writable when that has ended, well or not.
UniqueFd begin_connect_tcp(const sockaddr_in& local, const sockaddr_in& remote,
                           std::uint32_t buffer_bytes);

// Where somebody connected from, and the socket; of one that failed to come, errno is set.
struct Accepted {
  UniqueFd fd;
  sockaddr_in from{};
};
Accepted accept_tcp(int listener) noexcept;

int socket_error(int fd) noexcept;  // of the connection, errno; 0: none

// What the kernel says of a connection.
struct TcpInfo {
  std::uint64_t retransmitted_segments = 0;
  std::optional<std::uint32_t> min_rtt_us;  // nothing: no round trip was measured
};
TcpInfo tcp_info(int fd) noexcept;
std::string congestion_control_of(int fd);

}  // namespace turntable::homa
