// The connecting end of the control plane's messages: kvserver's and kvclient's link to the
// controller and the controller's to the agent.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "farreach/cache/message_channel.h"
#include "farreach/cache/unanswered.h"

namespace turntable::cache {

// Keeps a connection: while nobody listens, after it broke, or when the other side has not proven
// itself in time, it tries again every kReconnectNs; then its greeting and every unanswered request
// are sent. Lives on the loop's thread (other threads go through EventLoop::post).
class MessageLink {
 public:
  // `hello` makes the connection's first message, each time. `on_request` gets what the other side
  // asks; it answers with send(), now or later. `on_accepted` gets each answer to a greeting.
  MessageLink(
      net::EventLoop& loop, const sockaddr_in& to, net::Credentials credentials,
      std::function<Message()> hello, std::function<void(const Message&)> on_request,
      std::function<void(const Message&)> on_accepted = [](const Message&) {});
  ~MessageLink();
  MessageLink(const MessageLink&) = delete;
  MessageLink& operator=(const MessageLink&) = delete;

  // `on_answer` is called once, however often the request has to be sent. Answers the request's id.
  std::uint32_t ask(Message request, Unanswered::OnAnswer on_answer);

  // Nobody waits for the answer any more: it is not asked again.
  void withdraw(std::uint32_t id) { unanswered_.drop(id); }

  // An answer. Without a connection it is dropped: the request will come again.
  void send(const Message& answer);

  // Sends the greeting again, when what it says has changed.
  void greet();

  // Whether the other side has accepted the greeting. One that is refused is said again, on another
  // connection.
  bool is_up() const { return is_up_; }
  std::size_t unanswered() const { return unanswered_.size(); }
  std::uint64_t unexpected_answers() const { return unexpected_answers_; }

 private:
  void connect();
  void closed();
  void cancel_timers();
  void received(const Message& message);

  net::EventLoop& loop_;
  const sockaddr_in to_;
  const net::Credentials credentials_;
  std::function<Message()> hello_;
  std::function<void(const Message&)> on_request_;
  std::function<void(const Message&)> on_accepted_;
  std::unique_ptr<MessageChannel> channel_;
  Unanswered unanswered_;
  MessageType hello_type_ = MessageType::kHello;
  std::uint32_t hello_id_ = 0;  // not in unanswered_: each connection begins with a new one
  bool is_up_ = false;
  std::uint64_t unexpected_answers_ = 0;
  net::Timers::TimerId retry_ = 0;
  net::Timers::TimerId give_up_ = 0;  // the connection, unless it is proven by then
};

}  // namespace turntable::cache
