// The agent's end of its connection with the controller: listens, and asks whoever said HELLO last.
#pragma once

#include <functional>
#include <optional>

#include "farreach/cache/message_listener.h"
#include "farreach/cache/unanswered.h"

namespace turntable::cache {

class AskingListener {
 public:
  using Reply = std::function<void(const Message& answer)>;

  // `on_request` gets every request, HELLO too. Lives on the loop's thread.
  AskingListener(net::EventLoop& loop, const sockaddr_in& address, net::Credentials credentials,
                 std::function<void(const Message&, Reply)> on_request)
      : on_request_(std::move(on_request)),
        listener_(
            loop, address, std::move(credentials),
            [this](MessageListener::SessionId session, const Message& message) {
              received(session, message);
            },
            [this](MessageListener::SessionId session) {
              if (asked_ == session) asked_.reset();
            }) {}

  void ask(Message request, Unanswered::OnAnswer on_answer) {
    const Message& kept = unanswered_.add(std::move(request), std::move(on_answer));
    if (asked_) listener_.send(*asked_, kept);
  }

  // Those who asked are no more.
  void forget_requests() { unanswered_.clear(); }

  // The controller connects again, and asks again what has no answer yet.
  void reconnect() {
    asked_.reset();
    listener_.disconnect_all();
  }

  bool is_up() const { return asked_.has_value(); }
  std::uint16_t port() const { return listener_.port(); }
  std::size_t unanswered() const { return unanswered_.size(); }
  std::uint64_t unexpected_answers() const { return unexpected_answers_; }
  const MessageListener::Refusals& refusals() const { return listener_.refusals(); }

 private:
  void received(MessageListener::SessionId session, const Message& message) {
    if (message.is_answer) {
      if (!unanswered_.settle(message)) ++unexpected_answers_;
      return;
    }
    on_request_(message,
                [this, session](const Message& answer) { listener_.send(session, answer); });
    if (message.type != MessageType::kHello) return;
    // What a controller that died had asked must not be read behind what its successor asks.
    listener_.keep_only([session](auto other) { return other == session; });
    asked_ = session;
    unanswered_.for_each([&](const Message& request) { listener_.send(session, request); });
  }

  std::function<void(const Message&, Reply)> on_request_;
  Unanswered unanswered_;
  std::optional<MessageListener::SessionId> asked_;
  std::uint64_t unexpected_answers_ = 0;
  MessageListener listener_;  // last: it calls into the rest
};

}  // namespace turntable::cache
