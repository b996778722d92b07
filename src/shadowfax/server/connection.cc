#include "shadowfax/server/connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

namespace turntable::shadowfax {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;

}  // namespace

Connection::Connection(UniqueFd socket, const BatchServer::Place& place, WorkerCounts& counts,
                       TakeTime take_time)
    : socket_(std::move(socket)),
      place_(place),
      counts_(counts),
      take_time_(std::move(take_time)),
      in_(kReadBytes) {}

Connection::State Connection::receive() {
  if (is_blocked()) return State::kOpen;
  const ssize_t bytes = ::recv(fd(), in_.data() + in_end_, in_.size() - in_end_, MSG_DONTWAIT);
  if (bytes == 0) return State::kClosed;
  if (bytes < 0) return errno == EAGAIN || errno == EINTR ? State::kOpen : State::kClosed;
  in_end_ += static_cast<std::size_t>(bytes);
  return serve_whole_batches();
}

Connection::State Connection::serve_whole_batches() {
  while (server_ || in_end_ - in_begin_ >= Opening::kBytes) {
    if (!server_) {
      if (open() == State::kClosed) return State::kClosed;
      continue;
    }
    const std::size_t there = in_end_ - in_begin_;
    if (there < RequestHeader::kBytes) break;
    const RequestHeader header = read_request_header(in_.data() + in_begin_);
    if (header.bytes > kMostBatchBytes) {
      std::fprintf(stderr, "hlserver: a batch of %llu bytes; expected at most %llu\n",
                   static_cast<unsigned long long>(header.bytes),
                   static_cast<unsigned long long>(kMostBatchBytes));
      return State::kClosed;
    }
    const std::size_t whole = RequestHeader::kBytes + header.bytes;
    if (there < whole) {
      if (in_.size() < whole) in_.resize(whole);
      break;
    }
    if (serve_batch(header) == State::kClosed) return State::kClosed;
    in_begin_ += whole;
  }
  std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
  in_end_ -= std::exchange(in_begin_, 0);
  return send();
}

Connection::State Connection::serve_batch(const RequestHeader& header) {
  const std::span requests(in_.data() + in_begin_ + RequestHeader::kBytes, header.bytes);
  try {
    const BatchServer::Served served = server_->serve(header, requests, out_);
    count(served);
    if (!take_time_ || served.operations == 0) return State::kOpen;
    take_time_(served.operations);
    return send();
  } catch (const ProtocolError& error) {
    std::fprintf(stderr, "hlserver: %s\n", error.what());
    return State::kClosed;
  }
}

Connection::State Connection::open() {
  const Opening opening = read_opening(in_.data() + in_begin_);
  in_begin_ += Opening::kBytes;
  if (opening.format != Opening::kFormat) {
    std::fprintf(stderr, "hlserver: a connection does not begin with an opening of format 2\n");
    return State::kClosed;
  }
  const Welcome welcome = welcome_of(opening);
  out_.resize(out_.size() + Welcome::kBytes);
  write(out_.data() + out_.size() - Welcome::kBytes, welcome);
  if (server_) return State::kOpen;
  send();
  return State::kClosed;
}

// Opens the session, or says why it does not: the client is told.
Welcome Connection::welcome_of(const Opening& opening) {
  const std::size_t most = place_.store.most_value_bytes();
  if (opening.value_bytes < kFewestValueBytes || opening.value_bytes > most) {
    return {.status = WelcomeStatus::kValueBytes,
            .most_value_bytes = static_cast<std::uint32_t>(most)};
  }
  try {
    server_ = std::make_unique<BatchServer>(
        place_, hybridlog::SessionId{opening.session_high, opening.session_low},
        opening.value_bytes);
  } catch (const std::logic_error&) {
    return {.status = WelcomeStatus::kInUse};  // until the other connection has gone
  }
  counts_.sessions.add();
  return server_->welcome();
}

void Connection::count(const BatchServer::Served& served) noexcept {
  counts_.operations.add(static_cast<std::int64_t>(served.operations));
  counts_.pending.add(static_cast<std::int64_t>(served.pending));
  (served.is_refused ? counts_.refused_batches : counts_.batches).add();
}

Connection::State Connection::go_on() {
  if (has_pending()) server_->go_on(out_);
  return send();
}

std::unique_ptr<BatchServer> Connection::leave() {
  return server_ && !server_->leave() ? std::move(server_) : nullptr;
}

Connection::State Connection::send() {
  while (sent_ < out_.size()) {
    const ssize_t bytes =
        ::send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno == EAGAIN ? State::kOpen : State::kClosed;
    sent_ += static_cast<std::size_t>(bytes);
  }
  out_.clear();
  sent_ = 0;
  return State::kOpen;
}

}  // namespace turntable::shadowfax
