// The UDP payload of every Homa packet, as RAMCloud's transport has it (docs/homa.md §2),
// big-endian:
//
//   common    18 bytes: opcode 8, client 64, sequence 64, flags 8
//   ALL_DATA  + length 16, the whole message
//   DATA      + total 32, offset 32, unscheduled 32, a part of the message
//   GRANT     + offset 32, priority 8
//   RESEND    + offset 32, length 32, priority 8
//   BUSY, ABORT: the common part alone
//   ACK       + oldest 64; NEED_ACK: the common part alone
//
// ACK and NEED_ACK are of the option at-most-once, and ours: the measured transport has neither.
// decode() and encode_header() allocate nothing and check every length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace turntable::homa {

inline constexpr std::size_t kCommonBytes = 18;
inline constexpr std::size_t kAllDataHeaderBytes = 20;
inline constexpr std::size_t kDataHeaderBytes = 30;
inline constexpr std::size_t kGrantBytes = 23;
inline constexpr std::size_t kResendBytes = 27;
inline constexpr std::size_t kAckBytes = 26;
inline constexpr std::size_t kMaxHeaderBytes = kDataHeaderBytes;

enum class Opcode : std::uint8_t {
  kAllData = 20,
  kData = 21,
  kGrant = 22,
  kResend = 24,  // 23 is a debugging aid of RAMCloud's
  kBusy = 25,
  kAbort = 26,
  kAck = 27,
  kNeedAck = 28,
};

inline constexpr std::uint8_t kFromClient = 1;
inline constexpr std::uint8_t kRetransmission = 2;
inline constexpr std::uint8_t kRestart = 4;

inline constexpr std::uint8_t kMaxPriority = 7;  // a switch's port has eight queues

// A call and its answer. Sequences of one client ascend from 1.
struct RpcId {
  std::uint64_t client = 0;
  std::uint64_t sequence = 0;

  friend bool operator==(const RpcId&, const RpcId&) = default;
};

struct RpcIdHash {
  std::size_t operator()(const RpcId& id) const noexcept {
    return std::hash<std::uint64_t>{}((id.client * 0x9e3779b97f4a7c15U) ^ id.sequence);
  }
};

struct Packet {
  Opcode opcode = Opcode::kBusy;
  RpcId id{};
  std::uint8_t flags = 0;
  std::uint32_t total = 0;        // ALL_DATA, DATA: bytes of the message
  std::uint32_t offset = 0;       // DATA, RESEND: first byte; GRANT: may be sent below this
  std::uint32_t length = 0;       // ALL_DATA, DATA: bytes of it in here; RESEND: bytes asked for
  std::uint32_t unscheduled = 0;  // DATA: bytes that are sent without a grant
  std::uint8_t granted_priority = 0;        // GRANT, RESEND: of the packets that it asks for
  std::uint64_t oldest = 0;                 // ACK: the client's sequences below it are all complete
  std::span<const std::uint8_t> payload{};  // ALL_DATA, DATA: empty where no content is kept
  std::uint8_t priority = 0;                // of this packet; carried outside of it, in DSCP

  bool from_client() const noexcept { return (flags & kFromClient) != 0; }
  bool is_data() const noexcept { return opcode == Opcode::kAllData || opcode == Opcode::kData; }
};

enum class DecodeStatus : std::uint8_t {
  kOk,
  kTooShort,  // for its opcode
  kUnknownOpcode,
  kUnknownFlag,
  kWrongLength,    // what it says of its length is not so, or it is empty
  kWrongRange,     // reaches beyond the message or is empty
  kWrongPriority,  // no queue of a switch has it
};

// `packet` refers to `datagram`. Where the answer is not kOk, its content means nothing.
DecodeStatus decode(std::span<const std::uint8_t> datagram, Packet& packet) noexcept;

// Bytes of UDP payload that `packet` has, with `length` bytes of the message.
std::size_t packet_bytes(const Packet& packet) noexcept;

// All of `packet` but the payload, which follows. Bytes written; 0: `out` is too small.
std::size_t encode_header(const Packet& packet, std::span<std::uint8_t> out) noexcept;

}  // namespace turntable::homa
