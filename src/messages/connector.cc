#include "messages/connector.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace turntable::messages {
namespace {

constexpr std::int64_t kReconnectNs = 20'000'000;

}  // namespace

Connector::Connector(net::EventLoop& loop, const sockaddr_in& to, net::Credentials credentials,
                     std::function<void()> on_connecting, Channel::OnFrame on_frame,
                     std::function<void()> on_lost)
    : loop_(loop),
      to_(to),
      credentials_(std::move(credentials)),
      on_connecting_(std::move(on_connecting)),
      on_frame_(std::move(on_frame)),
      on_lost_(std::move(on_lost)) {
  connect();
}

void Connector::cancel_timers() {
  loop_.cancel(std::exchange(retry_, 0));
  loop_.cancel(std::exchange(give_up_, 0));
}

void Connector::connect() {
  retry_ = 0;
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return lose();  // no descriptor is left: later, perhaps
  const int status = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to_), sizeof(to_));
  if (status != 0 && errno != EINPROGRESS) return lose();
  auto handshake =
      std::make_unique<net::ConnectorHandshake>(credentials_.secret(), credentials_.next());
  channel_ = std::make_unique<Channel>(
      loop_, std::move(socket), std::move(handshake), net::Handshake::Bytes{},
      [this](Frame frame) { on_frame_(frame); }, [this](const std::string&) { lose(); });
  give_up_ = loop_.call_at(loop_.now_ns() + net::Handshake::kDeadlineNs, [this] {
    if (!channel_->is_proven()) lose();
  });
  on_connecting_();
}

void Connector::lose() {
  channel_.reset();
  cancel_timers();
  retry_ = loop_.call_at(loop_.now_ns() + kReconnectNs, [this] { connect(); });
  on_lost_();
}

}  // namespace turntable::messages
