// The connecting end of a system's messages. Every connection begins with a greeting; then every
// unanswered request is sent again.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "messages/connector.h"
#include "messages/unanswered.h"

namespace turntable::messages {

// Lives on the loop's thread (other threads go through EventLoop::post).
template <Message M>
class Link {
 public:
  using OnAnswer = typename Unanswered<M>::OnAnswer;

  // `greeting` makes the connection's first message, each time. `on_request` gets what the other
  // side asks; it answers with send(), now or later. `on_accepted` gets each answer to a greeting.
  Link(
      net::EventLoop& loop, const sockaddr_in& to, net::Credentials credentials,
      std::function<M()> greeting, std::function<void(const M&)> on_request,
      std::function<void(const M&)> on_accepted = [](const M&) {})
      : greeting_(std::move(greeting)),
        on_request_(std::move(on_request)),
        on_accepted_(std::move(on_accepted)),
        connector_(
            loop, to, std::move(credentials), [this] { connecting(); },
            [this](Frame frame) { received(decode<M>(frame)); }, [this] { is_up_ = false; }) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // `on_answer` is called once, however often the request has to be sent. Answers the request's id.
  std::uint32_t ask(M request, OnAnswer on_answer) {
    const M& kept = unanswered_.add(std::move(request), std::move(on_answer));
    connector_.send(kept);
    return kept.id;
  }

  // Nobody waits for the answer any more: it is not asked again.
  void withdraw(std::uint32_t id) { unanswered_.drop(id); }

  // An answer. Without a connection it is dropped: the request will come again.
  void send(const M& answer) { connector_.send(answer); }

  // Sends the greeting again, when what it says has changed.
  void greet() {
    if (!connector_.has_connection()) return;
    M greeting = greeting_();
    greeting.id = ++greeting_id_;
    greeting_type_ = greeting.type;
    connector_.send(greeting);
  }

  // Whether the other side has accepted the greeting. One that is refused is said again, on another
  // connection.
  bool is_up() const { return is_up_; }
  std::size_t unanswered() const { return unanswered_.size(); }
  std::uint64_t unexpected_answers() const { return unexpected_answers_; }

 private:
  void connecting() {
    greet();
    unanswered_.for_each([this](const M& request) { connector_.send(request); });
  }

  void received(const M& message) {
    if (!message.is_answer) return on_request_(message);
    if (message.type == greeting_type_) {
      if (is_refusal(message)) return connector_.lose();  // not yet, or never: said again
      if (message.id != greeting_id_) return;             // of a greeting before this one
      is_up_ = true;
      on_accepted_(message);
    } else if (!unanswered_.settle(message)) {
      ++unexpected_answers_;
    }
  }

  std::function<M()> greeting_;
  std::function<void(const M&)> on_request_;
  std::function<void(const M&)> on_accepted_;
  Unanswered<M> unanswered_;
  decltype(M::type) greeting_type_{};
  // Not in unanswered_: each connection begins with a new one. No other request has such an id.
  std::uint32_t greeting_id_ = std::uint32_t{1} << 31U;
  bool is_up_ = false;
  std::uint64_t unexpected_answers_ = 0;
  Connector connector_;  // last: it calls into the rest
};

}  // namespace turntable::messages
