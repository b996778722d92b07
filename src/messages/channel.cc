#include "messages/channel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <utility>

namespace turntable::messages {
namespace {

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == EINPROGRESS ||
         error == ENOTCONN;
}

}  // namespace

Channel::Channel(net::EventLoop& loop, UniqueFd socket, std::unique_ptr<net::Handshake> handshake,
                 net::Handshake::Bytes first, OnFrame on_frame, OnClosed on_closed)
    : loop_(loop),
      socket_(std::move(socket)),
      handshake_(std::move(handshake)),
      on_frame_(std::move(on_frame)),
      on_closed_(std::move(on_closed)),
      unsent_(std::move(first)) {
  const int on = 1;  // answers are waited for
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const short events = unsent_.empty() ? POLLIN : POLLIN | POLLOUT;
  loop_.watch(socket_.get(), events, [this](short ready_events) { ready(ready_events); });
}

Channel::~Channel() {
  *alive_ = false;
  if (socket_) loop_.unwatch(socket_.get());
}

bool Channel::has_spoken() const noexcept {
  std::uint8_t first = 0;
  return was_read_ ||
         (socket_ && ::recv(socket_.get(), &first, sizeof(first), MSG_PEEK | MSG_DONTWAIT) > 0);
}

void Channel::ready(short events) {
  const std::shared_ptr<bool> alive = alive_;
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !receive()) return;
  if (*alive && socket_ && (events & POLLOUT) != 0) flush();
}

// False: the channel has failed or has been destroyed.
bool Channel::receive() {
  const std::shared_ptr<bool> alive = alive_;
  std::array<std::uint8_t, 65536> buffer;
  const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size == 0) return fail("the other side closed the connection"), false;
  if (size < 0) {
    if (would_block(errno)) return true;
    return fail(std::strerror(errno)), false;
  }
  was_read_ = true;
  try {
    const auto bytes = std::span(buffer).first(static_cast<std::size_t>(size));
    is_proven() ? read_frames(bytes) : prove(bytes);
  } catch (const MessageError& error) {
    return fail(error.what()), false;
  } catch (const net::HandshakeError& error) {
    return fail(error.what()), false;
  }
  return *alive;
}

void Channel::read_frames(std::span<const std::uint8_t> bytes) {
  const std::shared_ptr<bool> alive = alive_;
  reader_.append(bytes);
  while (*alive) {
    const auto frame = reader_.next();
    if (!frame) return;
    on_frame_(*frame);
  }
}

void Channel::prove(std::span<const std::uint8_t> bytes) {
  unproven_.insert(unproven_.end(), bytes.begin(), bytes.end());
  handshake_->receive(unproven_, unsent_);
  if (is_proven()) {
    unsent_.insert(unsent_.end(), after_proof_.begin(), after_proof_.end());
    after_proof_.clear();
  }
  if (!unsent_.empty()) loop_.change(socket_.get(), POLLIN | POLLOUT);
  if (is_proven() && !unproven_.empty()) read_frames(std::exchange(unproven_, {}));
}

void Channel::flush() {
  while (sent_ < unsent_.size()) {
    const ssize_t size = ::send(socket_.get(), unsent_.data() + sent_, unsent_.size() - sent_,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0) {
      if (!would_block(errno)) fail(std::strerror(errno));
      return;
    }
    sent_ += static_cast<std::size_t>(size);
  }
  unsent_.clear();
  sent_ = 0;
  loop_.change(socket_.get(), POLLIN);
}

void Channel::fail(const std::string& why) {
  loop_.unwatch(socket_.get());
  socket_.reset();
  const OnClosed on_closed = std::move(on_closed_);
  on_closed(why);
}

}  // namespace turntable::messages
