// The controller's port, for servers and clients: a connection that says CLIENT_HELLO is a
// client's, any other a server's.
#pragma once

#include <set>

#include "farreach/cache/client_sessions.h"
#include "farreach/cache/server_sessions.h"

namespace turntable::cache {

class ControllerListener {
 public:
  // For the callbacks see ServerSessions. Lives on the loop's thread.
  ControllerListener(net::EventLoop& loop, const sockaddr_in& address, net::Credentials credentials,
                     ServerSessions::OnRequest on_request, ServerSessions::FindCached find_cached)
      : servers_(
            [this](SessionId session, const Message& message) { listener_.send(session, message); },
            std::move(on_request), std::move(find_cached)),
        clients_([this](SessionId session, const Message& message) {
          listener_.send(session, message);
        }),
        listener_(
            loop, address, std::move(credentials),
            [this](SessionId session, const Message& message) { received(session, message); },
            [this](SessionId session) { closed(session); }) {}

  // Another controller than before, or none with scale 0: what was asked for the one before ends.
  // Servers connect again, since it knows nothing of what they have been told; clients stay.
  void begin_generation(unsigned scale) {
    servers_.begin_generation(scale);
    clients_.drop_unanswered();
    listener_.keep_only([this](SessionId session) { return of_clients_.contains(session); });
  }

  ServerSessions& servers() { return servers_; }
  ClientSessions& clients() { return clients_; }
  std::uint16_t port() const { return listener_.port(); }
  const messages::SessionListener::Refusals& refusals() const { return listener_.refusals(); }

 private:
  using SessionId = MessageListener::SessionId;

  void received(SessionId session, const Message& message) {
    if (message.type == MessageType::kClientHello) of_clients_.insert(session);
    if (of_clients_.contains(session)) {
      clients_.received(session, message);
    } else {
      servers_.received(session, message);
    }
  }

  void closed(SessionId session) {
    of_clients_.erase(session);
    clients_.closed(session);
    servers_.closed(session);
  }

  ServerSessions servers_;
  ClientSessions clients_;
  std::set<SessionId> of_clients_;
  MessageListener listener_;  // last: it calls into the rest
};

}  // namespace turntable::cache
