// The listening end of a system's messages.
#pragma once

#include <functional>
#include <utility>

#include "messages/session_listener.h"

namespace turntable::messages {

template <Message M>
class Listener : public SessionListener {
 public:
  // As of SessionListener. Lives on the loop's thread.
  Listener(net::EventLoop& loop, const sockaddr_in& address, net::Credentials credentials,
           std::function<void(SessionId, const M&)> on_message,
           std::function<void(SessionId)> on_closed)
      : SessionListener(
            loop, address, std::move(credentials),
            [on_message = std::move(on_message)](SessionId session, Frame frame) {
              on_message(session, decode<M>(frame));
            },
            std::move(on_closed)) {}

  // To a session that has gone: nothing.
  void send(SessionId session, const M& message) { SessionListener::send(session, message); }
};

}  // namespace turntable::messages
