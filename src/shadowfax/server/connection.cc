#include "shadowfax/server/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace turntable::shadowfax {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;

}  // namespace

void WorkerCounts::refuse(OpeningRefusal refusal, const char* why) {
  const auto reason = static_cast<std::size_t>(refusal);
  Counter& counted = refused_openings.at(reason);
  if (counted.get() == 0) {
    std::fprintf(stderr, "hlserver: %s; others are counted (refused_openings: %s)\n", why,
                 kRefusalNames.at(reason));
  }
  counted.add();
}

Connection::Connection(UniqueFd socket, const BatchServer::Place& place, WorkerCounts& counts,
                       std::optional<std::string> secret, TakeTime take_time)
    : socket_(std::move(socket)),
      place_(place),
      opening_(std::move(secret)),
      counts_(counts),
      take_time_(std::move(take_time)) {}

bool Connection::has_spoken() const noexcept {
  std::byte first{};
  return was_read_ || ::recv(fd(), &first, sizeof first, MSG_PEEK | MSG_DONTWAIT) > 0;
}

Connection::State Connection::receive() {
  if (is_blocked()) return State::kOpen;
  if (!server_) return open();
  const ssize_t bytes = ::recv(fd(), in_.data() + in_end_, in_.size() - in_end_, MSG_DONTWAIT);
  if (bytes == 0) return State::kClosed;
  if (bytes < 0) return errno == EAGAIN || errno == EINTR ? State::kOpen : State::kClosed;
  in_end_ += static_cast<std::size_t>(bytes);
  return serve_whole_batches();
}

Connection::State Connection::serve_whole_batches() {
  for (;;) {
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

// Memory for batches is there once somebody may send some.
Connection::State Connection::open() {
  std::array<std::uint8_t, 512> bytes;
  const ssize_t count = ::recv(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return State::kOpen;
  try {
    if (count <= 0)
      throw OpeningRefused(OpeningRefusal::kSilent, "a client has gone before its session");
    was_read_ = true;
    const std::optional<Opening> opening =
        opening_->receive(std::span(bytes).first(static_cast<std::size_t>(count)), out_);
    if (!opening) return send();
    begin(*opening);
  } catch (const OpeningRefused& refused) {
    counts_.refuse(refused.refusal(), refused.what());
    send();
    return State::kClosed;
  }
  in_.resize(kReadBytes);
  const std::span<const std::uint8_t> rest = opening_->rest();
  std::memcpy(in_.data(), rest.data(), rest.size());
  in_end_ = rest.size();
  opening_.reset();
  return serve_whole_batches();
}

// The client is told why not. Throws OpeningRefused.
void Connection::begin(const Opening& opening) {
  const std::size_t most = place_.store.most_value_bytes();
  if (opening.value_bytes < kFewestValueBytes || opening.value_bytes > most) {
    append({.status = WelcomeStatus::kValueBytes,
            .most_value_bytes = static_cast<std::uint32_t>(most)});
    throw OpeningRefused(OpeningRefusal::kValueBytes,
                         "a session of values of " + std::to_string(opening.value_bytes) +
                             " bytes; expected " + std::to_string(kFewestValueBytes) + " to " +
                             std::to_string(most));
  }
  try {
    server_ = std::make_unique<BatchServer>(
        place_, hybridlog::SessionId{opening.session_high, opening.session_low},
        opening.value_bytes);
  } catch (const std::logic_error&) {
    append({.status = WelcomeStatus::kInUse});  // until the other connection has gone
    throw OpeningRefused(OpeningRefusal::kInUse,
                         "another connection has a session that is asked for");
  }
  counts_.sessions.add();
  append(server_->welcome());
}

void Connection::append(const Welcome& welcome) {
  out_.resize(out_.size() + Welcome::kBytes);
  write(out_.data() + out_.size() - Welcome::kBytes, welcome);
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
