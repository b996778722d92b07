// memcached's two protocols, as far as a client of GET and SET needs them.
//
// Requests are written into memory of the caller's; replies are read from a stream of bytes that
// may be cut anywhere. A store answers the requests of a connection in their order, in both
// protocols.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace turntable::mcload {

enum class Protocol : std::uint8_t { kAscii, kBinary };

// "ascii" or "binary"; throws std::invalid_argument.
Protocol protocol_of(std::string_view name);
const char* protocol_name(Protocol protocol) noexcept;

// A request's beginning: everything but a value and, in ASCII, the end of line behind it.
inline constexpr std::size_t kMaxHeaderBytes = 320;
inline constexpr std::string_view kLineEnd = "\r\n";

// Where a request's key begins. It may lie there before: then it is not copied.
constexpr std::size_t key_offset(Protocol protocol, bool is_set) noexcept {
  return protocol == Protocol::kAscii ? 4 : is_set ? 32 : 24;
}

std::size_t write_get(Protocol protocol, std::string_view key, std::uint32_t opaque,
                      char* out) noexcept;
std::size_t write_set(Protocol protocol, std::string_view key, std::uint32_t value_bytes,
                      std::uint32_t opaque, char* out) noexcept;

enum class Outcome : std::uint8_t {
  kHit,
  kMiss,
  kStored,
  kNotStored,
  kOutOfMemory,  // the store has no room for it, or the item is too large
  kServerError,
  kClientError,
  kRefused,  // the command is unknown: ERROR
};

constexpr bool is_error(Outcome outcome) noexcept {
  return outcome != Outcome::kHit && outcome != Outcome::kMiss && outcome != Outcome::kStored;
}

struct Reply {
  Outcome outcome = Outcome::kHit;
  std::uint32_t value_bytes = 0;  // of a hit
};

// The request that the next reply must answer: the oldest one of the connection.
struct Awaited {
  enum class Kind : std::uint8_t { kNothing, kGet, kSet };

  Kind kind = Kind::kNothing;
  std::string_view key = {};  // ASCII: a value comes with its key
  std::uint32_t opaque = 0;   // binary: a reply repeats it
};

class ReplyReader {
 public:
  enum class Status : std::uint8_t {
    kMore,    // all bytes are used, and no reply is complete
    kReply,   // one is
    kBroken,  // no reply of memcached, or one to another request; nothing after it can be read
  };

  explicit ReplyReader(Protocol protocol) noexcept : protocol_(protocol) {}

  // Takes what it has used from the front of `bytes`. Call it until it says kMore; `awaited` stays
  // the same until it says kReply.
  Status next(std::span<const char>& bytes, const Awaited& awaited, Reply& reply) noexcept {
    return protocol_ == Protocol::kAscii ? next_ascii(bytes, awaited, reply)
                                         : next_binary(bytes, awaited, reply);
  }
  // For a new connection.
  void reset() noexcept { *this = ReplyReader(protocol_); }

  // The beginning of what was no reply to the request, for messages.
  std::string_view broken() const noexcept { return {held_.data(), held_bytes_}; }

 private:
  Status next_ascii(std::span<const char>& bytes, const Awaited& awaited, Reply& reply) noexcept;
  bool take_whole(std::span<const char>& bytes, const Awaited& awaited,
                  Reply& reply) const noexcept;
  Status next_binary(std::span<const char>& bytes, const Awaited& awaited, Reply& reply) noexcept;
  bool skip(std::span<const char>& bytes) noexcept;
  bool hold(std::span<const char> bytes) noexcept;
  Status read_line(std::string_view line, const Awaited& awaited, Reply& reply) noexcept;
  bool read_value_line(std::string_view line, const Awaited& awaited) noexcept;
  Status break_at(std::string_view text) noexcept;

  Protocol protocol_;
  bool in_value_ = false;         // ASCII: END is to come behind the value
  bool value_ended_ = false;      // with its end of line
  bool in_body_ = false;          // binary
  std::uint32_t held_bytes_ = 0;  // of a line or header that was cut
  std::uint64_t to_skip_ = 0;     // bytes of a value or body
  Reply reply_;                   // that is complete after them
  std::array<char, 512> held_{};  // memcached's lines are shorter
};

}  // namespace turntable::mcload
