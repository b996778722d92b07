#include "farreach/cache/message_link.h"

#include <sys/socket.h>

#include <utility>

namespace turntable::cache {
namespace {

constexpr std::int64_t kReconnectNs = 20'000'000;
// HELLOs have ids that no other request has.
constexpr std::uint32_t kFirstHelloId = std::uint32_t{1} << 31U;

}  // namespace

MessageLink::MessageLink(net::EventLoop& loop, const sockaddr_in& to, net::Credentials credentials,
                         std::function<Message()> hello,
                         std::function<void(const Message&)> on_request,
                         std::function<void(const Message&)> on_accepted)
    : loop_(loop),
      to_(to),
      credentials_(std::move(credentials)),
      hello_(std::move(hello)),
      on_request_(std::move(on_request)),
      on_accepted_(std::move(on_accepted)),
      hello_id_(kFirstHelloId) {
  connect();
}

MessageLink::~MessageLink() {
  cancel_timers();
}

void MessageLink::cancel_timers() {
  loop_.cancel(std::exchange(retry_, 0));
  loop_.cancel(std::exchange(give_up_, 0));
}

void MessageLink::connect() {
  retry_ = 0;
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return closed();  // no descriptor is left: later, perhaps
  const int status = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to_), sizeof(to_));
  if (status != 0 && errno != EINPROGRESS) return closed();
  auto handshake =
      std::make_unique<net::ConnectorHandshake>(credentials_.secret(), credentials_.next());
  channel_ = std::make_unique<MessageChannel>(
      loop_, std::move(socket), std::move(handshake), net::Handshake::Bytes{},
      [this](const Message& message) { received(message); },
      [this](const std::string&) { closed(); });
  give_up_ = loop_.call_at(loop_.now_ns() + net::Handshake::kDeadlineNs, [this] {
    if (!channel_->is_proven()) closed();
  });
  greet();
  unanswered_.for_each([this](const Message& request) { channel_->send(request); });
}

void MessageLink::closed() {
  channel_.reset();
  is_up_ = false;
  cancel_timers();
  retry_ = loop_.call_at(loop_.now_ns() + kReconnectNs, [this] { connect(); });
}

void MessageLink::greet() {
  if (!channel_) return;
  Message hello = hello_();
  hello.id = ++hello_id_;
  hello_type_ = hello.type;
  channel_->send(hello);
}

std::uint32_t MessageLink::ask(Message request, Unanswered::OnAnswer on_answer) {
  const Message& kept = unanswered_.add(std::move(request), std::move(on_answer));
  if (channel_) channel_->send(kept);
  return kept.id;
}

void MessageLink::send(const Message& answer) {
  if (channel_) channel_->send(answer);
}

void MessageLink::received(const Message& message) {
  if (!message.is_answer) return on_request_(message);
  if (message.type == hello_type_) {
    if (!message.text.empty()) return closed();  // not yet, or never: said again
    if (message.id != hello_id_) return;         // of a greeting before this one
    is_up_ = true;
    on_accepted_(message);
  } else if (!unanswered_.settle(message)) {
    ++unexpected_answers_;
  }
}

}  // namespace turntable::cache
