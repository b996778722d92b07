// Key-value packets: the UDP payload exchanged by kvclient, the switch and kvserver.
//
// Format: docs/architecture.md §3 (the chain of the FarReach reference §2.1 plus a request id); all
// fields are big-endian. What follows `op` and `request` is decided by the low four bits of the
// type (§2.2):
//
//   op        type 16, key 16 bytes                    always
//   request   id 32                                    always
//   vallen    16, then the value padded to 8 n bytes   type & 1
//   shadow    16, a copy of the type                   type & 0xf != 0
//   seq       sequence 32, snapshot token 32           type & 2
//   inswitch  20 bytes                                 type & 4: never seen by an end host
//   stat      stat 8, node 16, pad 8                   type & 8
//
// decode() and encode() allocate nothing and check every length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace turntable::kv {

enum class PacketType : std::uint16_t {
  kPutRequest = 0x0001,      // PUTREQ
  kPutResponse = 0x0008,     // PUTRES
  kGetResponse = 0x0009,     // GETRES
  kDeleteResponse = 0x0018,  // DELRES
  kGetRequest = 0x0030,      // GETREQ
  kDeleteRequest = 0x0040,   // DELREQ
};

inline constexpr std::size_t kKeyBytes = 16;
inline constexpr std::size_t kMaxValueBytes = 128;  // 16 slots of 8 bytes in the switch

using PacketKey = std::array<std::uint8_t, kKeyBytes>;  // as on the wire

// `stat`: whether the key existed, or the write succeeded.
inline constexpr std::uint8_t kStatAbsent = 0;
inline constexpr std::uint8_t kStatSuccess = 1;
// `node` of an answer that the switch gave; any other value is a logical server's partition.
inline constexpr std::uint16_t kSwitchNode = 0xffff;

struct Packet {
  PacketType type{};
  PacketKey key{};
  std::uint32_t request_id = 0;
  std::span<const std::uint8_t> value{};  // not owned; after decode() it points into the datagram
  std::uint32_t sequence = 0;
  std::uint32_t snapshot_token = 0;
  std::uint8_t stat = 0;
  std::uint16_t node = 0;
};

constexpr bool has_value(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 1) != 0;
}
constexpr bool has_sequence(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 2) != 0;
}
constexpr bool has_inswitch(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 4) != 0;
}
constexpr bool has_stat(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 8) != 0;
}
constexpr bool has_shadow(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 0xf) != 0;
}

constexpr std::size_t padded(std::size_t value_bytes) {
  return (value_bytes + 7) / 8 * 8;
}

// Bytes of the UDP payload. `value_bytes` counts only for types that carry a value.
constexpr std::size_t encoded_size(PacketType type, std::size_t value_bytes) {
  constexpr std::size_t kOp = 2 + kKeyBytes, kRequest = 4, kVallen = 2, kShadow = 2, kSeq = 8,
                        kStat = 4;
  return kOp + kRequest + (has_value(type) ? kVallen + padded(value_bytes) : 0) +
         (has_shadow(type) ? kShadow : 0) + (has_sequence(type) ? kSeq : 0) +
         (has_stat(type) ? kStat : 0);
}

// The UDP lengths of the reference §2.1 count 8 bytes of UDP header and no request id (4 bytes).
constexpr std::size_t kUdpHeaderMinusRequest = 8 - 4;
static_assert(encoded_size(PacketType::kGetRequest, 0) + kUdpHeaderMinusRequest == 26);
static_assert(encoded_size(PacketType{0x0002}, 0) + kUdpHeaderMinusRequest == 36);  // DELREQ_SEQ
static_assert(encoded_size(PacketType{0x000a}, 0) + kUdpHeaderMinusRequest == 40);  // PUTRES_SEQ
static_assert(encoded_size(PacketType{0x0003}, 128) + kUdpHeaderMinusRequest == 38 + 128);
static_assert(encoded_size(PacketType{0x006b}, 121) + kUdpHeaderMinusRequest == 42 + 128);

// No end host sends or receives more (GETRES_SEQ with a full value).
inline constexpr std::size_t kMaxPacketBytes = encoded_size(PacketType{0x006b}, kMaxValueBytes);

enum class DecodeStatus : std::uint8_t {
  kOk,
  kTruncated,      // a header is cut off
  kTrailingBytes,  // more bytes than the type has headers
  kInSwitchType,   // a type that exists only inside the switch
  kValueTooLong,   // vallen > kMaxValueBytes
  kBadPadding,     // padding of the value is not zero
  kBadShadow,      // shadowtype differs from the type
};

// Reads `datagram` into `packet`; unless the answer is kOk, `packet` is unspecified.
DecodeStatus decode(std::span<const std::uint8_t> datagram, Packet& packet) noexcept;

// Writes `packet` to the start of `out` and returns its size; 0, and nothing written, if the value
// is too long, `out` is too small, or the type exists only inside the switch.
std::size_t encode(const Packet& packet, std::span<std::uint8_t> out) noexcept;

}  // namespace turntable::kv
