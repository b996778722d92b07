// Connections of a thread: opened again when they were closed.

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "mcload/client_thread.h"

namespace turntable::mcload {
namespace {

constexpr std::int64_t kFirstBackoffNs = 1'000'000;
constexpr std::int64_t kLastBackoffNs = 1'000'000'000;

}  // namespace

template <typename RequestLoop>
void LoopThread<RequestLoop>::watch(std::size_t index, bool is_new, bool for_room) noexcept {
  epoll_event event{};
  event.events = for_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = index;
  ::epoll_ctl(epoll_.get(), is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, connections_[index].fd(),
              &event);
}

// Its requests are lost: to send them again would be another load, and a SET twice.
template <typename RequestLoop>
void LoopThread<RequestLoop>::lose(std::size_t index, std::int64_t now_ns) noexcept {
  Connection& connection = connections_[index];
  while (!connection.empty()) loop_.abandon(connection.take_oldest().number);
  connection.close();
  ++statistics_.errors.closed;
  --open_connections_;
  set_limit();
  retry_later(index, now_ns);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::retry_later(std::size_t index, std::int64_t now_ns) noexcept {
  Connection& connection = connections_[index];
  connection.reconnect_at_ns = now_ns + connection.backoff_ns;
  connection.backoff_ns = std::clamp(2 * connection.backoff_ns, kFirstBackoffNs, kLastBackoffNs);
  closed_.push_back(index);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::reconnect_due(std::int64_t now_ns) noexcept {
  for (std::size_t i = closed_.size(); i-- > 0;) {
    const std::size_t index = closed_[i];
    if (connections_[index].reconnect_at_ns > now_ns) continue;
    closed_.erase(closed_.begin() + static_cast<std::ptrdiff_t>(i));
    begin_connect(index, now_ns);
  }
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::begin_connect(std::size_t index, std::int64_t now_ns) noexcept {
  const ServerAddress& server = settings_.servers[index % settings_.servers.size()];
  UniqueFd fd = server.begin_connect(settings_.no_delay);
  if (!fd) return retry_later(index, now_ns);
  connections_[index].connecting(std::move(fd));
  watch(index, /*is_new=*/true, /*for_room=*/true);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::end_connect(std::size_t index, std::int64_t now_ns) noexcept {
  Connection& connection = connections_[index];
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(connection.fd(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) {
    connection.close();
    return retry_later(index, now_ns);
  }
  connection.open(settings_.servers[index % settings_.servers.size()].is_tcp());
  watch(index, /*is_new=*/false, /*for_room=*/false);
  ++statistics_.errors.reconnected;
  ++open_connections_;
  set_limit();
}

template void LoopThread<load::OpenLoop>::lose(std::size_t, std::int64_t) noexcept;
template void LoopThread<load::OpenLoop>::watch(std::size_t, bool, bool) noexcept;
template void LoopThread<load::OpenLoop>::reconnect_due(std::int64_t) noexcept;
template void LoopThread<load::OpenLoop>::end_connect(std::size_t, std::int64_t) noexcept;
template void LoopThread<load::SaturatedLoop>::lose(std::size_t, std::int64_t) noexcept;
template void LoopThread<load::SaturatedLoop>::watch(std::size_t, bool, bool) noexcept;
template void LoopThread<load::SaturatedLoop>::reconnect_due(std::int64_t) noexcept;
template void LoopThread<load::SaturatedLoop>::end_connect(std::size_t, std::int64_t) noexcept;

}  // namespace turntable::mcload
