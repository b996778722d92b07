// The kernel's calls of a request's path: what they return, or -errno.
//
// glibc's are points where a thread may be cancelled. In a program with threads that costs two
// atomic operations each, and nobody here cancels a thread.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>

namespace turntable::mcload {

template <typename... Arguments>
std::int64_t kernel_call(long number, Arguments... arguments) noexcept {
  const long result = ::syscall(number, arguments...);
  return result < 0 ? -errno : result;
}

// Without waiting.
inline std::int64_t receive_now(int fd, msghdr& message) noexcept {
  return kernel_call(SYS_recvmsg, fd, &message, MSG_DONTWAIT);
}
inline std::int64_t send_now(int fd, const iovec& bytes) noexcept {
  return kernel_call(SYS_sendto, fd, bytes.iov_base, bytes.iov_len, MSG_NOSIGNAL | MSG_DONTWAIT,
                     nullptr, 0);
}
inline std::int64_t send_now(int fd, const msghdr& message) noexcept {
  return kernel_call(SYS_sendmsg, fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

inline std::int64_t epoll_events_now(int epoll, std::span<epoll_event> events) noexcept {
  return kernel_call(SYS_epoll_pwait, epoll, events.data(), events.size(), /*timeout=*/0, nullptr,
                     0);
}

// Waits at most `left`.
inline std::int64_t epoll_events(int epoll, std::span<epoll_event> events,
                                 const timespec& left) noexcept {
  return kernel_call(SYS_epoll_pwait2, epoll, events.data(), events.size(), &left, nullptr, 0);
}

}  // namespace turntable::mcload
