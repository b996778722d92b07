// The UDP payload of every NetClone request and response: docs/netclone.md §2. 52 bytes, all fields
// big-endian.
//
//   header   28 bytes, what the switch parses (p4/netclone):
//            op 32, seq 32, grp 32, sid 32, load 32, clo 32, tidx 32
//   trailer  24 bytes, which only hosts read:
//            request 64, sent_at_ns 64, client 16, operation 8, flags 8, object 32
//
// decode() and encode() allocate nothing and check every length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace turntable::netclone {

inline constexpr std::size_t kHeaderBytes = 28;
inline constexpr std::size_t kTrailerBytes = 24;
inline constexpr std::size_t kPacketBytes = kHeaderBytes + kTrailerBytes;

// The switch treats packets from or to these ports as NetClone's and only forwards all others.
inline constexpr std::uint16_t kSwitchPort = 1000;  // of logical server 0; server i has + i
inline constexpr std::uint16_t kLastSwitchPort = 1015;
inline constexpr std::uint16_t kPlainPort = 2000;  // the same without the switch's help
inline constexpr std::uint16_t kCoordinatorPort = 3000;

inline constexpr unsigned kMaxServers = 16;
inline constexpr unsigned kMaxClients = 4096;  // logical ones, of all hosts

// In answers of laedge seq is how long the copy's credit was taken, in ns; this, if for longer.
inline constexpr std::uint32_t kCreditTooLong = UINT32_MAX;

enum class Op : std::uint32_t { kRequest = 0, kResponse = 1 };

enum class Clone : std::uint32_t {
  kNone = 0,      // there is one copy of the request
  kOriginal = 1,  // the first of two copies
  kClone = 2,     // the second
};

enum class Operation : std::uint8_t {
  kWork = 0,  // for as long as was drawn
  kGet = 1,
  kScan = 2,
  kProbe = 3,  // is answered at once: measures the path
};

// Bit 0 of the flags: all workers were busy when the request arrived.
inline constexpr std::uint8_t kArrivedAtAllBusy = 1;

struct Packet {
  Op op = Op::kRequest;
  std::uint32_t seq = 0;         // given by the switch, or by the coordinator
  std::uint32_t group = 0;       // an ordered pair of servers, from 1 on
  std::uint32_t server = 0;      // sid: the clone's server, or the one that answers
  std::uint32_t queue = 0;       // load: length of the answering server's FIFO
  Clone clone = Clone::kNone;    // clo
  std::uint32_t table = 0;       // tidx: the filter table, 0 or 1
  std::uint64_t request = 0;     // unique in an iteration: request_id()
  std::uint64_t sent_at_ns = 0;  // CLOCK_REALTIME
  std::uint16_t client = 0;      // index of the logical client
  Operation operation = Operation::kWork;
  std::uint8_t flags = 0;
  std::uint32_t object = 0;  // rank of the object that GET or SCAN begins at

  // Which of a request's copies this is: draws of service times depend on it.
  std::uint32_t copy() const noexcept { return clone == Clone::kClone ? 1 : 0; }
};

// Requests of all clients have different ids: docs/netclone.md §2.
constexpr std::uint64_t request_id(std::uint16_t client, std::uint64_t number) noexcept {
  return std::uint64_t{client} << 48U | number;
}
constexpr std::uint16_t client_of(std::uint64_t request) noexcept {
  return static_cast<std::uint16_t>(request >> 48U);
}
constexpr std::uint64_t number_of(std::uint64_t request) noexcept {
  return request & ((std::uint64_t{1} << 48U) - 1);
}

enum class DecodeStatus : std::uint8_t {
  kOk,
  kWrongLength,
  kUnknownOp,
  kUnknownClone,
  kUnknownTable,
  kUnknownOperation,
  kWrongClient,  // the request's id names another one
};

DecodeStatus decode(std::span<const std::uint8_t> datagram, Packet& packet) noexcept;

// Writes kPacketBytes to the beginning of `out` and answers how many that are; 0 if they do not
// fit.
std::size_t encode(const Packet& packet, std::span<std::uint8_t> out) noexcept;

}  // namespace turntable::netclone
