// The controller's connections with the clients' machines. A session is one connection: a client
// that was gone and has come back is another session, and what the one before was asked has failed.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "farreach/cache/links.h"

namespace turntable::cache {

class ClientSessions {
 public:
  using SessionId = MessageListener::SessionId;
  using Send = std::function<void(SessionId, const Message&)>;

  // Lives on the loop's thread.
  explicit ClientSessions(Send send) : send_(std::move(send)) {}

  // Those that have greeted and are there now, in the order in which they came.
  std::vector<SessionId> connected() const { return {sessions_.begin(), sessions_.end()}; }

  // `on_answer` is called once: with the answer, or with a failure (a text) when the session
  // closes, at once if it has. Nothing is sent twice.
  void ask(SessionId session, Message request, Unanswered::OnAnswer on_answer);

  // Whoever asked has gone.
  void drop_unanswered() {
    unanswered_.clear();
    session_of_.clear();
  }

  std::size_t unanswered() const { return unanswered_.size(); }
  // Answers that nobody waits for, and requests: clients ask for nothing.
  std::uint64_t unexpected_messages() const { return unexpected_messages_; }
  std::uint64_t refused_hellos() const { return refused_hellos_; }

  // From the listener.
  void received(SessionId session, const Message& message);
  void closed(SessionId session);

 private:
  void greeted(SessionId session, const Message& hello);
  bool settle(SessionId session, const Message& answer);

  Send send_;
  std::set<SessionId> sessions_;
  Unanswered unanswered_;
  std::map<std::uint32_t, SessionId> session_of_;  // of unanswered requests, by id
  std::uint64_t unexpected_messages_ = 0;
  std::uint64_t refused_hellos_ = 0;
};

}  // namespace turntable::cache
