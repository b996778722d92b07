#include "mcload/connection.h"

#include <limits.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "common/clock.h"
#include "mcload/kernel_calls.h"

namespace turntable::mcload {
namespace {

constexpr std::size_t kPieces = 3;  // of a request: header, value, end of line

std::optional<std::int64_t> arrival_of(const msghdr& message) noexcept {
  for (const cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&message), const_cast<cmsghdr*>(part))) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec at{};
    std::memcpy(&at, CMSG_DATA(part), sizeof at);
    return std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
  }
  return std::nullopt;
}

}  // namespace

Connection::Connection(Protocol protocol, std::size_t depth)
    : protocol_(protocol), replies_(protocol), requests_(depth) {
  pending_.reserve(depth * kPieces);
}

void Connection::connecting(UniqueFd fd) noexcept {
  fd_ = std::move(fd);
  state_ = State::kConnecting;
}

void Connection::open(bool stamped) noexcept {
  const int on = 1;
  stamped_ = stamped && ::setsockopt(fd_.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0;
  state_ = State::kOpen;
}

void Connection::close() noexcept {
  fd_.reset();
  state_ = State::kClosed;
  replies_.reset();
  waiting_ = 0;
  pending_.clear();
  pending_first_ = 0;
  dirty = watched_for_room = false;
}

Connection::Request& Connection::add(std::uint64_t number, std::string_view key,
                                     std::uint32_t value_bytes, bool is_set) noexcept {
  Request& request = next();
  ++waiting_;
  request.number = number;
  request.value_bytes = value_bytes;
  request.key_bytes = static_cast<std::uint16_t>(key.size());
  request.is_set = is_set;
  return request;
}

void Connection::add_get(std::uint64_t number, std::string_view key,
                         std::uint32_t value_bytes) noexcept {
  Request& request = add(number, key, value_bytes, false);
  pend(request.header.data(),
       write_get(protocol_, key, static_cast<std::uint32_t>(number), request.header.data()));
}

void Connection::add_set(std::uint64_t number, std::string_view key,
                         std::span<const char> value) noexcept {
  const auto bytes = static_cast<std::uint32_t>(value.size());
  Request& request = add(number, key, bytes, true);
  pend(request.header.data(),
       write_set(protocol_, key, bytes, static_cast<std::uint32_t>(number), request.header.data()));
  if (bytes > 0) pend(value.data(), bytes);
  if (protocol_ == Protocol::kAscii) pend(kLineEnd.data(), kLineEnd.size());
}

Awaited Connection::awaited() const noexcept {
  if (empty()) return {};
  const Request& oldest = requests_[oldest_];
  const char* const key = oldest.header.data() + key_offset(protocol_, oldest.is_set);
  return {.kind = oldest.is_set ? Awaited::Kind::kSet : Awaited::Kind::kGet,
          .key = {key, oldest.key_bytes},
          .opaque = static_cast<std::uint32_t>(oldest.number)};
}

const Connection::Request& Connection::take_oldest() noexcept {
  const Request& request = requests_[oldest_];
  if (++oldest_ == requests_.size()) oldest_ = 0;
  --waiting_;
  return request;
}

// What a request has not sent yet is no more than the pieces of the requests that wait, so there is
// room once what was sent is taken out.
void Connection::pend(const char* data, std::size_t bytes) noexcept {
  if (pending_.size() == pending_.capacity()) {
    pending_.erase(pending_.begin(),
                   pending_.begin() + static_cast<std::ptrdiff_t>(pending_first_));
    pending_first_ = 0;
  }
  pending_.push_back({const_cast<char*>(data), bytes});
}

Connection::Flushed Connection::flush(std::uint64_t& sent) noexcept {
  dirty = false;
  while (pending_first_ < pending_.size()) {
    const std::size_t count = std::min<std::size_t>(pending_.size() - pending_first_, IOV_MAX);
    iovec* first = &pending_[pending_first_];
    msghdr message{};
    message.msg_iov = first;
    message.msg_iovlen = count;
    const std::int64_t bytes =
        count == 1 ? send_now(fd_.get(), *first) : send_now(fd_.get(), message);
    if (bytes == -EINTR) continue;
    if (bytes < 0) return bytes == -EAGAIN ? Flushed::kBlocked : Flushed::kFailed;
    sent += static_cast<std::uint64_t>(bytes);
    auto left = static_cast<std::size_t>(bytes);
    for (; left > 0 && left >= pending_[pending_first_].iov_len; ++pending_first_)
      left -= pending_[pending_first_].iov_len;
    if (left > 0) {
      iovec& cut = pending_[pending_first_];
      cut = {static_cast<char*>(cut.iov_base) + left, cut.iov_len - left};
    }
  }
  pending_.clear();
  pending_first_ = 0;
  return Flushed::kAll;
}

Connection::Read Connection::read(std::span<char> into) const noexcept {
  iovec where = {into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, 128> control;
  if (stamped_) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  Read read{.bytes = receive_now(fd_.get(), message)};
  if (read.bytes <= 0) return read;
  const auto arrived_ns = stamped_ ? arrival_of(message) : std::nullopt;
  read.is_stamped = arrived_ns.has_value();
  read.arrived_ns = arrived_ns ? *arrived_ns : monotonic_ns();
  return read;
}

}  // namespace turntable::mcload
