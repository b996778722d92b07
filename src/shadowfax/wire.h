// What clients and servers say to each other over a byte stream (Kulkarni et al., "Achieving High
// Throughput and Elasticity in a Larger-than-Memory Store", PVLDB 14(8), 2021, §3). Numbers are
// little-endian and packed.
//
// A connection begins with an opening, which says whose session it is, and a welcome:
//
//   opening          "hlog" and the format u64 · session u64 u64 (all zero: nobody's)
//   welcome          status u8 · view u64 · served u64 · committed u64
//
// Requests of a session are numbered from 1, in the order in which they are first sent. `served` is
// the last one that the store has, `committed` the last one that it has for good: after a crash of
// the server both are what a checkpoint covers, and the client sends what is behind again.
//
// A client then sends batches. Every request of a batch has the same size, so that a batch of
// 32,768 bytes has 1,926 of them:
//
//   request batch    view u32 · bytes that follow u32 · number of the first request u64 | requests
//   request          opcode u8 · key u64 · value u64 (of a read: anything)        17 bytes
//
// A server answers a batch with a batch, in the order of its requests; or it refuses it as a whole.
// Requests that have to wait are answered as pending, with a number; their results come later, in
// any batch, as further replies behind the others, or in a batch of their own.
//
//   reply batch      status u8 · view u64 · reissue from u64 · committed u64 · bytes that follow
//                    u64 | replies
//   reply            opcode u8 · status u8 · number u64                           10 bytes
//                    ... and of a read value u64                                  18 bytes
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
  kPending = 2,  // the result comes later
  kNoSpace = 3,  // the store's device is full; nothing was changed
  kIoError = 4,  // the store's device did not give the record; nothing was changed
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
  kInUse = 1,  // another connection has this session
};

struct Opening {
  static constexpr std::size_t kBytes = 24;
  static constexpr std::uint64_t kFormat = 0x0000'0001'676F'6C68;  // "hlog", 1
  std::uint64_t format = kFormat;
  std::uint64_t session_high = 0, session_low = 0;
};

struct Welcome {
  static constexpr std::size_t kBytes = 25;
  WelcomeStatus status = WelcomeStatus::kOpen;
  std::uint64_t view = 0;
  std::uint64_t served = 0, committed = 0;  // numbers of requests
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

struct Request {
  static constexpr std::size_t kBytes = 17;
  Opcode opcode;
  std::uint64_t key;
  std::uint64_t value;
};

struct Reply {
  static constexpr std::size_t kBytes = 10;
  static constexpr std::size_t kReadBytes = 18;
  Opcode opcode;
  ReplyStatus status;
  std::uint64_t number;  // of a request that is or was pending
  std::uint64_t value;   // of a read

  static constexpr std::size_t bytes_of(Opcode opcode) noexcept {
    return opcode == Opcode::kRead ? kReadBytes : kBytes;
  }
};

inline constexpr std::uint16_t kBasePort = 22'790;  // of a server's first worker, as the original's

// The longest batch that is taken.
inline constexpr std::uint64_t kMostBatchBytes = std::uint64_t{1} << 20U;
inline constexpr std::size_t kMostRequests = kMostBatchBytes / Request::kBytes;
// Of replies to that, and of results of all that may be pending.
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
          .session_low = wire::read<std::uint64_t>(at + 16)};
}
inline std::byte* write(std::byte* at, const Opening& opening) noexcept {
  at = wire::write(at, opening.format);
  at = wire::write(at, opening.session_high);
  return wire::write(at, opening.session_low);
}

inline Welcome read_welcome(const std::byte* at) noexcept {
  return {.status = wire::read<WelcomeStatus>(at),
          .view = wire::read<std::uint64_t>(at + 1),
          .served = wire::read<std::uint64_t>(at + 9),
          .committed = wire::read<std::uint64_t>(at + 17)};
}
inline std::byte* write(std::byte* at, const Welcome& welcome) noexcept {
  at = wire::write(at, welcome.status);
  at = wire::write(at, welcome.view);
  at = wire::write(at, welcome.served);
  return wire::write(at, welcome.committed);
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

// Reads kReadBytes of a read, kBytes of others: as Reply::bytes_of(the byte at `at`) says.
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

inline constexpr bool is_opcode(Opcode opcode) noexcept {
  return opcode >= Opcode::kRead && opcode <= Opcode::kErase;
}

// Nothing: what is there is no whole reply.
inline std::optional<Reply> next_reply(const std::byte* at, const std::byte* end) noexcept {
  const auto there = static_cast<std::size_t>(end - at);
  if (there < Reply::kBytes) return std::nullopt;
  const auto opcode = wire::read<Opcode>(at);
  if (!is_opcode(opcode) || there < Reply::bytes_of(opcode)) return std::nullopt;
  return read_reply(at);
}

}  // namespace turntable::shadowfax
