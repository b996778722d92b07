// The sockets of a thread's sessions, by number of their server: which of them have something.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <span>

#include "common/unique_fd.h"
#include "shadowfax/cluster/view.h"

namespace turntable::shadowfax {

class WatchedSockets {
 public:
  WatchedSockets();  // throws std::system_error, as the others do

  // for_room: until there is room to write, too.
  void watch(ServerNumber server, int socket, bool for_room);
  void change(ServerNumber server, int socket, bool for_room);
  void forget(int socket) noexcept;

  int fd() const noexcept { return epoll_.get(); }
  // How many have something.
  int look() noexcept;
  // Calls f with the server of each socket that had something then.
  template <typename F>
  void for_each_ready(const F& f) {
    for (const epoll_event& event : std::span(ready_).first(count_))
      f(static_cast<ServerNumber>(event.data.u64));
  }

 private:
  void control(int operation, ServerNumber server, int socket, bool for_room) const;

  UniqueFd epoll_;
  std::array<epoll_event, 64> ready_{};
  std::size_t count_ = 0;
};

}  // namespace turntable::shadowfax
