#include "messages/session_listener.h"

#include <poll.h>
#include <sys/socket.h>

#include <utility>

#include "common/accept_failure.h"
#include "common/errno_error.h"
#include "net/ipv4.h"
#include "net/who_makes_room.h"

namespace turntable::messages {
namespace {

// Who does not prove itself must not hold descriptors for long, or many.
constexpr std::size_t kMaxUnproven = 64;
constexpr std::int64_t kAcceptAgainNs = 100'000'000;

}  // namespace

SessionListener::SessionListener(net::EventLoop& loop, const sockaddr_in& address,
                                 net::Credentials credentials,
                                 std::function<void(SessionId, Frame)> on_frame,
                                 std::function<void(SessionId)> on_closed)
    : loop_(loop),
      socket_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      on_frame_(std::move(on_frame)),
      on_closed_(std::move(on_closed)),
      credentials_(std::move(credentials)) {
  const std::string where = "cannot listen on " + net::text_of(address);
  if (!socket_) throw errno_error(where);
  const int on = 1;
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket_.get(), SOMAXCONN) != 0) {
    throw errno_error(where);
  }
  loop_.watch(socket_.get(), POLLIN, [this](short) { accept(); });
}

SessionListener::~SessionListener() {
  loop_.unwatch(socket_.get());
  if (accept_again_ != 0) loop_.cancel(accept_again_);
}

void SessionListener::accept() {
  sockaddr_in from{};
  socklen_t length = sizeof(from);
  UniqueFd socket(::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&from), &length,
                            SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    ++failed_accepts_;
    if (is_out_of_resources(errno)) pause();
    return;
  }
  make_room();
  const SessionId session = next_session_++;
  net::Handshake::Bytes challenge;
  auto handshake = std::make_unique<net::ListenerHandshake>(
      credentials_.secret(),
      [this, session](const net::Identity& identity) { return admit(session, identity); },
      challenge);
  unproven_[session] = from.sin_addr.s_addr;
  sessions_[session] = std::make_unique<Channel>(
      loop_, std::move(socket), std::move(handshake), std::move(challenge),
      [this, session](Frame frame) { on_frame_(session, frame); },
      [this, session](const std::string&) { ended(session); });
  loop_.call_at(loop_.now_ns() + net::Handshake::kDeadlineNs,
                [this, session, still = std::weak_ptr<char>(alive_)] {
                  if (!still.expired() && unproven_.contains(session)) ended(session);
                });
}

// Says why not, or nothing.
std::string SessionListener::admit(SessionId session, const net::Identity& identity) {
  const auto [place, is_first] =
      nodes_.try_emplace(identity.node, Newest{identity.incarnation, session});
  Newest& newest = place->second;
  if (!is_first && identity.incarnation.is_older_than(newest.incarnation)) {
    ++refusals_.older;
    unproven_.erase(session);
    return "a newer incarnation of " + identity.node + " has been here";
  }
  const SessionId before = std::exchange(newest.session, session);
  newest.incarnation = identity.incarnation;
  unproven_.erase(session);
  if (before != session && sessions_.contains(before)) ended(before);
  return "";
}

void SessionListener::make_room() {
  const auto from = [](const auto& opening) { return opening.second; };
  const auto has_spoken = [this](const auto& opening) {
    return sessions_.at(opening.first)->has_spoken();
  };
  while (unproven_.size() >= kMaxUnproven)
    ended(net::who_makes_room(unproven_, from, has_spoken)->first);
}

void SessionListener::ended(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;  // disconnected meanwhile
  const bool was_proven = found->second->is_proven();
  if (unproven_.erase(session) != 0) {
    ++(found->second->has_spoken() ? refusals_.unproven : refusals_.silent);
  }
  sessions_.erase(found);
  if (!was_proven) return;  // nobody has heard of it
  on_closed_(session);
}

// Connections wait in the socket's queue.
void SessionListener::pause() {
  loop_.change(socket_.get(), 0);
  accept_again_ = loop_.call_at(loop_.now_ns() + kAcceptAgainNs, [this] {
    accept_again_ = 0;
    loop_.change(socket_.get(), POLLIN);
  });
}

std::uint16_t SessionListener::port() const {
  return ntohs(net::address_of(socket_.get()).sin_port);
}

}  // namespace turntable::messages
