// A listening end that asks as well: whoever has greeted last.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "messages/listener.h"
#include "messages/unanswered.h"

namespace turntable::messages {

template <Message M>
class AskingListener {
 public:
  using Type = decltype(M::type);
  using Reply = std::function<void(const M& answer)>;
  using OnAnswer = typename Unanswered<M>::OnAnswer;
  using SessionId = SessionListener::SessionId;

  // `on_request` gets every request, also those of type `greeting`. Lives on the loop's thread.
  AskingListener(net::EventLoop& loop, const sockaddr_in& address, net::Credentials credentials,
                 Type greeting, std::function<void(const M&, Reply)> on_request)
      : greeting_(greeting),
        on_request_(std::move(on_request)),
        listener_(
            loop, address, std::move(credentials),
            [this](SessionId session, const M& message) { received(session, message); },
            [this](SessionId session) {
              if (asked_ == session) asked_.reset();
            }) {}

  void ask(M request, OnAnswer on_answer) {
    const M& kept = unanswered_.add(std::move(request), std::move(on_answer));
    if (asked_) listener_.send(*asked_, kept);
  }

  // Those who asked are no more.
  void forget_requests() { unanswered_.clear(); }

  // The other side connects again, and asks again what has no answer yet.
  void reconnect() {
    asked_.reset();
    listener_.disconnect_all();
  }

  bool is_up() const { return asked_.has_value(); }
  std::uint16_t port() const { return listener_.port(); }
  std::size_t unanswered() const { return unanswered_.size(); }
  std::uint64_t unexpected_answers() const { return unexpected_answers_; }
  const SessionListener::Refusals& refusals() const { return listener_.refusals(); }

 private:
  void received(SessionId session, const M& message) {
    if (message.is_answer) {
      if (!unanswered_.settle(message)) ++unexpected_answers_;
      return;
    }
    on_request_(message, [this, session](const M& answer) { listener_.send(session, answer); });
    if (message.type == greeting_) greeted(session);
  }

  // What a node that died had asked must not be read behind what its successor asks.
  void greeted(SessionId session) {
    listener_.keep_only([session](SessionId other) { return other == session; });
    asked_ = session;
    unanswered_.for_each([&](const M& request) { listener_.send(session, request); });
  }

  const Type greeting_;
  std::function<void(const M&, Reply)> on_request_;
  Unanswered<M> unanswered_;
  std::optional<SessionId> asked_;
  std::uint64_t unexpected_answers_ = 0;
  Listener<M> listener_;  // last: it calls into the rest
};

}  // namespace turntable::messages
