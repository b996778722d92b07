#include "farreach/cache/client_sessions.h"

#include <string>
#include <utility>

namespace turntable::cache {
namespace {

constexpr const char* kClosed = "the client's connection has closed";

}  // namespace

void ClientSessions::ask(SessionId session, Message request, Unanswered::OnAnswer on_answer) {
  if (!sessions_.contains(session)) return on_answer(failure_of(request, kClosed));
  const Message& kept = unanswered_.add(std::move(request), std::move(on_answer));
  session_of_[kept.id] = session;
  send_(session, kept);
}

void ClientSessions::received(SessionId session, const Message& message) {
  if (message.is_answer) {
    if (!settle(session, message)) ++unexpected_messages_;
  } else if (message.type == MessageType::kClientHello) {
    greeted(session, message);
  } else {
    ++unexpected_messages_;
    send_(session, failure_of(message, "the controller does nothing that clients ask for"));
  }
}

bool ClientSessions::settle(SessionId session, const Message& answer) {
  const auto asked = session_of_.find(answer.id);
  if (asked == session_of_.end() || asked->second != session) return false;
  if (!unanswered_.settle(answer)) return false;
  session_of_.erase(answer.id);
  return true;
}

void ClientSessions::greeted(SessionId session, const Message& hello) {
  if (hello.numbers.empty() || hello.numbers.front() != kMessagesVersion) {
    ++refused_hellos_;
    return send_(session, failure_of(hello, "CLIENT_HELLO of another version; expected version " +
                                                std::to_string(kMessagesVersion)));
  }
  sessions_.insert(session);
  send_(session, answer_to(hello, {kMessagesVersion}));
}

void ClientSessions::closed(SessionId session) {
  if (sessions_.erase(session) == 0) return;
  std::vector<std::uint32_t> asked;
  for (const auto& [id, of] : session_of_) {
    if (of == session) asked.push_back(id);
  }
  for (const std::uint32_t id : asked) {
    session_of_.erase(id);
    unanswered_.fail(id, [](const Message& request) { return failure_of(request, kClosed); });
  }
}

}  // namespace turntable::cache
