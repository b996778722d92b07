#include "cache/message_listener.h"

#include <poll.h>
#include <sys/socket.h>

#include "common/errno_error.h"

namespace turntable::cache {

MessageListener::MessageListener(EventLoop& loop, const sockaddr_in& address,
                                 std::function<void(SessionId, const Message&)> on_message,
                                 std::function<void(SessionId)> on_closed)
    : loop_(loop),
      socket_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      on_message_(std::move(on_message)),
      on_closed_(std::move(on_closed)) {
  const std::string where = "cannot listen on " + text_of(address);
  if (!socket_) throw errno_error(where);
  const int on = 1;
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket_.get(), SOMAXCONN) != 0) {
    throw errno_error(where);
  }
  loop_.watch(socket_.get(), POLLIN, [this](short) { accept(); });
}

MessageListener::~MessageListener() {
  loop_.unwatch(socket_.get());
}

void MessageListener::accept() {
  UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) return;  // it has gone again
  const SessionId session = next_session_++;
  sessions_[session] = std::make_unique<MessageChannel>(
      loop_, std::move(socket),
      [this, session](const Message& message) { on_message_(session, message); },
      [this, session](const std::string&) {
        ++failures_;
        sessions_.erase(session);
        on_closed_(session);
      });
}

void MessageListener::send(SessionId session, const Message& message) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second->send(message);
}

std::uint16_t MessageListener::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

}  // namespace turntable::cache
