// A connection to a memcached: requests that wait for their replies in order, and bytes that wait
// to be sent. After the constructor nothing here allocates. Not thread-safe.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/unique_fd.h"
#include "mcload/protocol.h"

namespace turntable::mcload {

class Connection {
 public:
  struct Request {
    std::uint64_t number = 0;
    std::uint32_t value_bytes = 0;  // of the record
    std::uint16_t key_bytes = 0;
    bool is_set = false;
    std::array<char, kMaxHeaderBytes> header{};
  };

  enum class State : std::uint8_t { kClosed, kConnecting, kOpen };
  enum class Flushed : std::uint8_t { kAll, kBlocked, kFailed };

  Connection(Protocol protocol, std::size_t depth);

  State state() const noexcept { return state_; }
  int fd() const noexcept { return fd_.get(); }
  void connecting(UniqueFd fd) noexcept;
  // stamped: the kernel says when bytes arrived.
  void open(bool stamped) noexcept;
  // Its requests are gone; see take_oldest() for them before.
  void close() noexcept;

  bool has_room() const noexcept { return state_ == State::kOpen && waiting_ < requests_.size(); }
  bool empty() const noexcept { return waiting_ == 0; }
  std::size_t waiting() const noexcept { return waiting_; }  // for a reply

  // Where the next request's key may be written, so that it need not be copied. There must be
  // room for a request.
  char* room_for_key(bool is_set) noexcept {
    return next().header.data() + key_offset(protocol_, is_set);
  }
  // The request is written and waits to be sent, and for its reply. There must be room. `value`
  // must stay where it is until it is sent; not for a GET.
  void add_get(std::uint64_t number, std::string_view key, std::uint32_t value_bytes) noexcept;
  void add_set(std::uint64_t number, std::string_view key, std::span<const char> value) noexcept;
  // The next reply, from the front of what was read. One that does not answer the oldest request is
  // kBroken: nobody knows what those after it answer. For kReply see take_oldest().
  ReplyReader::Status next_reply(std::span<const char>& bytes, Reply& reply) noexcept {
    return replies_.next(bytes, awaited(), reply);
  }
  // The beginning of what was kBroken, for messages.
  std::string_view broken() const noexcept { return replies_.broken(); }
  // The request that the next reply answers; it stays until the next add. Not if empty().
  const Request& take_oldest() noexcept;

  // Sends what waits. `sent` grows by the bytes.
  Flushed flush(std::uint64_t& sent) noexcept;
  bool blocked() const noexcept { return pending_first_ < pending_.size(); }

  // Reads once, without waiting: bytes, 0 at the end, or -errno.
  struct Read {
    std::int64_t bytes = 0;
    // Of the last of them: by the kernel's stamp (CLOCK_REALTIME), or else when they were read
    // (CLOCK_MONOTONIC), which has to stand for it.
    std::int64_t arrived_ns = 0;
    bool is_stamped = false;
  };
  Read read(std::span<char> into) const noexcept;

  // For the thread that owns it.
  bool dirty = false;                // something waits to be sent
  bool watched_for_room = false;     // epoll tells when the socket has room
  std::int64_t reconnect_at_ns = 0;  // when closed
  std::int64_t backoff_ns = 0;

 private:
  Request& next() noexcept {
    const std::size_t index = oldest_ + waiting_;
    return requests_[index < requests_.size() ? index : index - requests_.size()];
  }
  Request& add(std::uint64_t number, std::string_view key, std::uint32_t value_bytes,
               bool is_set) noexcept;
  Awaited awaited() const noexcept;
  void pend(const char* data, std::size_t bytes) noexcept;

  const Protocol protocol_;
  State state_ = State::kClosed;
  bool stamped_ = false;
  UniqueFd fd_;
  ReplyReader replies_;
  std::vector<Request> requests_;  // a ring
  std::size_t oldest_ = 0;
  std::size_t waiting_ = 0;
  std::vector<iovec> pending_;
  std::size_t pending_first_ = 0;
};

}  // namespace turntable::mcload
