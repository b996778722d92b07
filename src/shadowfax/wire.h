// What clients and servers say to each other over a byte stream (Kulkarni et al., "Achieving High
// Throughput and Elasticity in a Larger-than-Memory Store", PVLDB 14(8), 2021, §3). Numbers are
// little-endian and packed.
//
// A connection begins with an opening, which says whose session it is, and a welcome:
//
//   opening          "hlog" and the format u64 · session u64 u64 (all zero: nobody's)
//                    · bytes of its values u32
//   welcome          status u8 · view u64 · served u64 · committed u64 · most bytes of a value u32
//
// All values that a session sends have the length that its opening says, from 8 on.
//
// A server that has a secret answers the opening with a welcome kProve and its challenge
// (net/handshake.h). The client proves the secret, the server does, and then the welcome comes.
// Once per connection: batches carry nothing of it.
//
// Requests of a session are numbered from 1, in the order in which they are first sent. `served` is
// the last one that the store has, `committed` the last one that it has for good: after a crash of
// the server both are what a checkpoint covers, and the client sends what is behind again.
//
// A client then sends batches. Every request of a batch has the same size, so that a batch of
// 32,768 bytes has 1,926 of them:
//
//   request batch    view u32 · bytes that follow u32 · number of the first request u64 | requests
//   request          opcode u8 · key u64 · value (of a read: anything)
//                                                          values of 8 bytes:      17 bytes
//                                                          of others:              9 + value
//
// An addition adds the number in its value's first 8 bytes to that in those of the key's; a key
// that is not there begins as its value.
//
// A server answers a batch with a batch, in the order of its requests; or it refuses it as a whole.
// Requests that have to wait are answered as pending, with a number; their results come later, in
// any batch, as further replies behind the others, or in a batch of their own.
//
//   reply batch      status u8 · view u64 · reissue from u64 · committed u64 · bytes that follow
//                    u64 | replies
//   reply            opcode u8 · status u8 · number u64                           10 bytes
//                    ... and of a read   value u64 (sessions of 8 bytes)          18 bytes
//                                        length u32 · value (of others)           14 + value
//
// A key may have a value of another length than the session's: of a store's other sessions. What a
// reply cannot have is not cut: it is kWrongSize, and the length says how long the value is (of
// sessions of 8 bytes: where the value else is). A shorter one comes whole, with zeros behind it,
// in sessions of other values than 8 bytes.
//
// A batch that is refused is to be sent again from the request `reissue from`, and all behind it:
// one whose first request is not the next is refused, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace turntable::shadowfax {

enum class Opcode : std::uint8_t { kRead = 1, kUpsert = 2, kAdd = 3, kErase = 4 };

enum class ReplyStatus : std::uint8_t {
  kOk = 0,
  kNotFound = 1,
  kPending = 2,    // the result comes later
  kNoSpace = 3,    // the store's device is full; nothing was changed
  kIoError = 4,    // the store's device did not give the record; nothing was changed
  kWrongSize = 5,  // the key's value has a length that the operation cannot have (see above; of an
                   // addition: fewer than 8 bytes); nothing was changed
};

enum class BatchStatus : std::uint8_t {
  kServed = 0,
  kViewChanged = 1,  // the batch's view is not the server's: none of it was served
  kBusy = 2,         // too many requests of the session wait, or one before it was refused: none
                     // of it was served
  kResults = 3,      // answers no batch: results of what was pending
};

enum class WelcomeStatus : std::uint8_t {
  kOpen = 0,
  kInUse = 1,       // another connection has this session
  kValueBytes = 2,  // the store has no values of so many bytes
  kProve = 3,       // a challenge follows: another welcome comes after the proof
  kFormat = 4,      // what came is no opening of this format
};

inline constexpr std::uint32_t kFewestValueBytes = 8;  // of a session

struct Opening {
  static constexpr std::size_t kBytes = 28;
  static constexpr std::uint64_t kFormat = 0x0000'0003'676F'6C68;  // "hlog", 3
  std::uint64_t format = kFormat;
  std::uint64_t session_high = 0, session_low = 0;
  std::uint32_t value_bytes = kFewestValueBytes;
};

struct Welcome {
  static constexpr std::size_t kBytes = 29;
  WelcomeStatus status = WelcomeStatus::kOpen;
  std::uint64_t view = 0;
  std::uint64_t served = 0, committed = 0;  // numbers of requests
  std::uint32_t most_value_bytes = 0;
};

struct RequestHeader {
  static constexpr std::size_t kBytes = 16;
  std::uint64_t view = 0;
  std::uint64_t first = 0;  // number of its first request
  std::uint64_t bytes = 0;  // that follow
};

struct ReplyHeader {
  static constexpr std::size_t kBytes = 33;
  BatchStatus status = BatchStatus::kServed;
  std::uint64_t view = 0;
  std::uint64_t reissue_from = 0;
  std::uint64_t committed = 0;  // number of the last request that a checkpoint covers
  std::uint64_t bytes = 0;      // that follow
};

// With a value of 8 bytes, or the beginning of a longer one.
struct Request {
  static constexpr std::size_t kBytes = 17;
  static constexpr std::size_t kValueAt = 9;
  Opcode opcode;
  std::uint64_t key;
  std::uint64_t value;
};

struct Reply {
  static constexpr std::size_t kBytes = 10;
  static constexpr std::size_t kReadBytes = 18;
  static constexpr std::size_t kSizedReadBytes = 14;  // and the value
  Opcode opcode;
  ReplyStatus status;
  std::uint64_t number;  // of a request that is or was pending
  std::uint64_t value;   // of a read: the first 8 bytes; of kWrongSize: as above
  // Of a read, in sessions of other values than 8 bytes:
  std::uint32_t length = 0;            // the value's, also where it is longer than a reply's
  std::span<const std::byte> bytes{};  // all of it, or nothing
};

// What requests and replies of a session take.
class Sizes {
 public:
  constexpr explicit Sizes(std::size_t value_bytes = kFewestValueBytes) noexcept
      : value_bytes_(value_bytes) {}

  constexpr std::size_t value_bytes() const noexcept { return value_bytes_; }
  constexpr bool is_sized() const noexcept { return value_bytes_ != kFewestValueBytes; }
  constexpr std::size_t request() const noexcept { return Request::kValueAt + value_bytes_; }
  // Of the longest batch that is taken.
  constexpr std::size_t most_requests() const noexcept;
  // Of a read's, which is the longest.
  constexpr std::size_t longest_reply() const noexcept {
    return is_sized() ? Reply::kSizedReadBytes + value_bytes_ : Reply::kReadBytes;
  }
  constexpr std::size_t reply(Opcode opcode) const noexcept {
    return opcode == Opcode::kRead ? longest_reply() : Reply::kBytes;
  }

 private:
  std::size_t value_bytes_;
};

inline constexpr std::uint16_t kBasePort = 22'790;  // of a server's first worker, as the original's

// The longest batch that is taken.
inline constexpr std::uint64_t kMostBatchBytes = std::uint64_t{1} << 20U;
constexpr std::size_t Sizes::most_requests() const noexcept {
  return kMostBatchBytes / request();
}
inline constexpr std::size_t kMostRequests = Sizes().most_requests();
// Of replies to that, with results of what was pending: as many as fit, the others are in further
// batches.
inline constexpr std::uint64_t kMostReplyBytes = 4 * kMostBatchBytes;

namespace wire {

template <typename Number>
Number read(const std::byte* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

template <typename Number>
std::byte* write(std::byte* at, Number number) noexcept {
  std::memcpy(at, &number, sizeof number);
  return at + sizeof number;
}

}  // namespace wire

inline Opening read_opening(const std::byte* at) noexcept {
  return {.format = wire::read<std::uint64_t>(at),
          .session_high = wire::read<std::uint64_t>(at + 8),
          .session_low = wire::read<std::uint64_t>(at + 16),
          .value_bytes = wire::read<std::uint32_t>(at + 24)};
}
inline std::byte* write(std::byte* at, const Opening& opening) noexcept {
  at = wire::write(at, opening.format);
  at = wire::write(at, opening.session_high);
  at = wire::write(at, opening.session_low);
  return wire::write(at, opening.value_bytes);
}

inline Welcome read_welcome(const std::byte* at) noexcept {
  return {.status = wire::read<WelcomeStatus>(at),
          .view = wire::read<std::uint64_t>(at + 1),
          .served = wire::read<std::uint64_t>(at + 9),
          .committed = wire::read<std::uint64_t>(at + 17),
          .most_value_bytes = wire::read<std::uint32_t>(at + 25)};
}
inline std::byte* write(std::byte* at, const Welcome& welcome) noexcept {
  at = wire::write(at, welcome.status);
  at = wire::write(at, welcome.view);
  at = wire::write(at, welcome.served);
  at = wire::write(at, welcome.committed);
  return wire::write(at, welcome.most_value_bytes);
}

inline RequestHeader read_request_header(const std::byte* at) noexcept {
  return {.view = wire::read<std::uint32_t>(at),
          .first = wire::read<std::uint64_t>(at + 8),
          .bytes = wire::read<std::uint32_t>(at + 4)};
}
inline std::byte* write(std::byte* at, const RequestHeader& header) noexcept {
  at = wire::write(at, static_cast<std::uint32_t>(header.view));
  at = wire::write(at, static_cast<std::uint32_t>(header.bytes));
  return wire::write(at, header.first);
}

inline ReplyHeader read_reply_header(const std::byte* at) noexcept {
  return {.status = wire::read<BatchStatus>(at),
          .view = wire::read<std::uint64_t>(at + 1),
          .reissue_from = wire::read<std::uint64_t>(at + 9),
          .committed = wire::read<std::uint64_t>(at + 17),
          .bytes = wire::read<std::uint64_t>(at + 25)};
}
inline std::byte* write(std::byte* at, const ReplyHeader& header) noexcept {
  at = wire::write(at, header.status);
  at = wire::write(at, header.view);
  at = wire::write(at, header.reissue_from);
  at = wire::write(at, header.committed);
  return wire::write(at, header.bytes);
}

inline Request read_request(const std::byte* at) noexcept {
  return {.opcode = wire::read<Opcode>(at),
          .key = wire::read<std::uint64_t>(at + 1),
          .value = wire::read<std::uint64_t>(at + 9)};
}
inline std::byte* write(std::byte* at, const Request& request) noexcept {
  at = wire::write(at, request.opcode);
  at = wire::write(at, request.key);
  return wire::write(at, request.value);
}

// Of values of 8 bytes. Reads kReadBytes of a read, kBytes of others.
inline Reply read_reply(const std::byte* at) noexcept {
  const auto opcode = wire::read<Opcode>(at);
  return {.opcode = opcode,
          .status = wire::read<ReplyStatus>(at + 1),
          .number = wire::read<std::uint64_t>(at + 2),
          .value = opcode == Opcode::kRead ? wire::read<std::uint64_t>(at + 10) : 0};
}
inline std::byte* write(std::byte* at, const Reply& reply) noexcept {
  at = wire::write(at, reply.opcode);
  at = wire::write(at, reply.status);
  at = wire::write(at, reply.number);
  return reply.opcode == Opcode::kRead ? wire::write(at, reply.value) : at;
}

// Of a session of other values than 8 bytes: the reply's bytes, with zeros behind them.
inline std::byte* write_sized(std::byte* at, const Reply& reply, Sizes sizes) noexcept {
  at = wire::write(at, reply.opcode);
  at = wire::write(at, reply.status);
  at = wire::write(at, reply.number);
  if (reply.opcode != Opcode::kRead) return at;
  at = wire::write(at, reply.length);
  if (!reply.bytes.empty()) std::memcpy(at, reply.bytes.data(), reply.bytes.size());
  std::memset(at + reply.bytes.size(), 0, sizes.value_bytes() - reply.bytes.size());
  return at + sizes.value_bytes();
}

inline constexpr bool is_opcode(Opcode opcode) noexcept {
  return opcode >= Opcode::kRead && opcode <= Opcode::kErase;
}

// Nothing: what is there is no whole reply. Its bytes are where it was read.
inline std::optional<Reply> next_reply(const std::byte* at, const std::byte* end,
                                       Sizes sizes = Sizes()) noexcept {
  const auto there = static_cast<std::size_t>(end - at);
  if (there < Reply::kBytes) return std::nullopt;
  const auto opcode = wire::read<Opcode>(at);
  if (!is_opcode(opcode) || there < sizes.reply(opcode)) return std::nullopt;
  if (!sizes.is_sized() || opcode != Opcode::kRead) return read_reply(at);
  Reply reply{.opcode = opcode,
              .status = wire::read<ReplyStatus>(at + 1),
              .number = wire::read<std::uint64_t>(at + 2),
              .value = wire::read<std::uint64_t>(at + Reply::kSizedReadBytes),
              .length = wire::read<std::uint32_t>(at + Reply::kBytes)};
  const bool is_whole = reply.length <= sizes.value_bytes();
  if (!is_whole && reply.status == ReplyStatus::kOk) return std::nullopt;
  reply.bytes = {at + Reply::kSizedReadBytes, is_whole ? reply.length : 0};
  return reply;
}

}  // namespace turntable::shadowfax
