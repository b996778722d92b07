#include "shadowfax/server/connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

namespace turntable::shadowfax {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;

}  // namespace

Connection::Connection(UniqueFd socket, hybridlog::Store& store, hybridlog::Epoch::Thread& thread,
                       std::size_t most_pending)
    : socket_(std::move(socket)), server_(store, thread, most_pending), in_(kReadBytes) {}

Connection::State Connection::receive(std::uint64_t view) {
  if (is_blocked()) return State::kOpen;
  const ssize_t bytes = ::recv(fd(), in_.data() + in_end_, in_.size() - in_end_, MSG_DONTWAIT);
  if (bytes == 0) return State::kClosed;
  if (bytes < 0) return errno == EAGAIN || errno == EINTR ? State::kOpen : State::kClosed;
  in_end_ += static_cast<std::size_t>(bytes);
  return serve_whole_batches(view);
}

Connection::State Connection::serve_whole_batches(std::uint64_t view) {
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
    const std::span requests(in_.data() + in_begin_ + RequestHeader::kBytes, header.bytes);
    try {
      server_.serve(header, requests, view, out_);
    } catch (const ProtocolError& error) {
      std::fprintf(stderr, "hlserver: %s\n", error.what());
      return State::kClosed;
    }
    in_begin_ += whole;
  }
  std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
  in_end_ -= std::exchange(in_begin_, 0);
  return send();
}

Connection::State Connection::go_on(std::uint64_t view) {
  if (server_.pending() > 0) server_.go_on(view, out_);
  return send();
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
