// What clients and servers say to each other over a byte stream (Kulkarni et al., "Achieving High
// Throughput and Elasticity in a Larger-than-Memory Store", PVLDB 14(8), 2021, §3). Numbers are
// little-endian and packed.
//
// A client sends batches. Every request of a batch has the same size, so that a batch of 32,768
// bytes has 1,926 of them:
//
//   request batch    view u64 · bytes that follow u64 | requests
//   request          opcode u8 · key u64 · value u64 (of a read: anything)        17 bytes
//
// A server answers a batch with a batch, in the order of its requests; or it refuses it as a whole.
// Requests that have to wait are answered as pending, with a number; their results come later, in
// any batch, as further replies behind the others, or in a batch of their own.
//
//   reply batch      status u8 · view u64 · reissue from u64 · bytes that follow u64 | replies
//   reply            opcode u8 · status u8 · number u64                           10 bytes
//                    ... and of a read value u64                                  18 bytes
//
// Requests of a session are numbered from 1, in the order in which they were first sent. A batch
// that is refused is to be sent again from the request `reissue from`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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
  kBusy = 2,         // too many requests of the session wait: none of it was served
  kResults = 3,      // answers no batch: results of what was pending
};

struct RequestHeader {
  static constexpr std::size_t kBytes = 16;
  std::uint64_t view = 0;
  std::uint64_t bytes = 0;  // that follow
};

struct ReplyHeader {
  static constexpr std::size_t kBytes = 25;
  BatchStatus status = BatchStatus::kServed;
  std::uint64_t view = 0;
  std::uint64_t reissue_from = 0;
  std::uint64_t bytes = 0;  // that follow
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

// The longest batch that is taken.
inline constexpr std::uint64_t kMostBatchBytes = std::uint64_t{1} << 20U;

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

inline RequestHeader read_request_header(const std::byte* at) noexcept {
  return {.view = wire::read<std::uint64_t>(at), .bytes = wire::read<std::uint64_t>(at + 8)};
}
inline std::byte* write(std::byte* at, const RequestHeader& header) noexcept {
  return wire::write(wire::write(at, header.view), header.bytes);
}

inline ReplyHeader read_reply_header(const std::byte* at) noexcept {
  return {.status = wire::read<BatchStatus>(at),
          .view = wire::read<std::uint64_t>(at + 1),
          .reissue_from = wire::read<std::uint64_t>(at + 9),
          .bytes = wire::read<std::uint64_t>(at + 17)};
}
inline std::byte* write(std::byte* at, const ReplyHeader& header) noexcept {
  at = wire::write(at, header.status);
  at = wire::write(at, header.view);
  at = wire::write(at, header.reissue_from);
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

}  // namespace turntable::shadowfax
