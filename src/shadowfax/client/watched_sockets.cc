#include "shadowfax/client/watched_sockets.h"

#include <algorithm>

#include "common/errno_error.h"

namespace turntable::shadowfax {

WatchedSockets::WatchedSockets() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw errno_error("cannot open an epoll");
}

void WatchedSockets::watch(ServerNumber server, int socket, bool for_room) {
  control(EPOLL_CTL_ADD, server, socket, for_room);
}

void WatchedSockets::change(ServerNumber server, int socket, bool for_room) {
  control(EPOLL_CTL_MOD, server, socket, for_room);
}

void WatchedSockets::forget(int socket) noexcept {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
}

int WatchedSockets::look() noexcept {
  const int count = ::epoll_wait(epoll_.get(), ready_.data(), static_cast<int>(ready_.size()), 0);
  count_ = static_cast<std::size_t>(std::max(count, 0));
  return static_cast<int>(count_);
}

void WatchedSockets::control(int operation, ServerNumber server, int socket, bool for_room) const {
  epoll_event event{.events = for_room ? EPOLLIN | EPOLLOUT : EPOLLIN, .data = {.u64 = server}};
  if (::epoll_ctl(epoll_.get(), operation, socket, &event) != 0)
    throw errno_error("cannot watch a socket");
}

}  // namespace turntable::shadowfax
