// Key-value packets: the UDP payload exchanged by kvclient, the switch and kvserver.
//
// Format: docs/architecture.md §3 (the chain of the FarReach reference §2.1 plus a request id) and
// docs/kvcache.md §3; all fields are big-endian. What follows `op` and `request` is decided by the
// low four bits of the type (§2.2):
//
//   op        type 16, key 16 bytes                    always
//   request   id 32                                    always
//   vallen    16, then the value padded to 8 n bytes   type & 1
//   shadow    16, a copy of the type                   type & 0xf != 0
//   seq       sequence 32, snapshot token 32           type & 2
//   inswitch  20 bytes                                 type & 4: never seen by an end host
//   stat      stat 8, node 16, pad 8                   type & 8
//
// Values of more than kMaxValueBytes travel in the fragments of a few types of their own:
//
//   fraginfo  client 16, transmission 32, index 16, count 16
//   bytes     of fragment 0 the value's length 32, then at most kFragmentBytes of the value
//
// stand behind what the type's low bits say; GETRES_LARGEVALUE_SEQ (seq, stat) and
// GETRES_LARGEVALUE (stat) have no such bits set and no shadow.
//
// decode() and encode() allocate nothing and check every length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace turntable::kv {

enum class PacketType : std::uint16_t {
  // Clients ask, and get from servers without a cache in front of them:
  kGetRequest = 0x0030,        // GETREQ
  kPutRequest = 0x0001,        // PUTREQ
  kDeleteRequest = 0x0040,     // DELREQ
  kLargePutRequest = 0x02d0,   // PUTREQ_LARGEVALUE
  kGetResponse = 0x0009,       // GETRES
  kPutResponse = 0x0008,       // PUTRES
  kDeleteResponse = 0x0018,    // DELRES
  kLargeGetResponse = 0x0300,  // GETRES_LARGEVALUE

  // The same answers where the switch numbers writes, from it or from a server:
  kGetResponseSeq = 0x006b,       // GETRES_SEQ
  kPutResponseSeq = 0x000a,       // PUTRES_SEQ
  kDeleteResponseSeq = 0x001a,    // DELRES_SEQ
  kLargeGetResponseSeq = 0x0350,  // GETRES_LARGEVALUE_SEQ
  // Answers to GETREQ_NLATEST, which the switch looks at; clients get them as GETRES_SEQ.
  kGetResponseLatestSeq = 0x000b,   // GETRES_LATEST_SEQ
  kGetResponseDeletedSeq = 0x001b,  // GETRES_DELETED_SEQ

  // What such a switch makes of a request on its way to a server:
  kHotGetRequest = 0x0050,                        // GETREQ_POP
  kFillGetRequest = 0x00a2,                       // GETREQ_NLATEST
  kBeingEvictedRecordGetRequest = 0x007b,         // GETREQ_BEINGEVICTED_RECORD
  kLargeValueBlockRecordGetRequest = 0x008b,      // GETREQ_LARGEVALUEBLOCK_RECORD
  kPutRequestSeq = 0x0003,                        // PUTREQ_SEQ
  kPutRequestSeqCase3 = 0x0023,                   // PUTREQ_SEQ_CASE3
  kPutRequestSeqBeingEvicted = 0x0053,            // PUTREQ_SEQ_BEINGEVICTED
  kPutRequestSeqCase3BeingEvicted = 0x0063,       // PUTREQ_SEQ_CASE3_BEINGEVICTED
  kHotPutRequestSeq = 0x0013,                     // PUTREQ_POP_SEQ
  kHotPutRequestSeqCase3 = 0x0033,                // PUTREQ_POP_SEQ_CASE3
  kDeleteRequestSeq = 0x0002,                     // DELREQ_SEQ
  kDeleteRequestSeqCase3 = 0x0012,                // DELREQ_SEQ_CASE3
  kDeleteRequestSeqBeingEvicted = 0x0062,         // DELREQ_SEQ_BEINGEVICTED
  kDeleteRequestSeqCase3BeingEvicted = 0x0072,    // DELREQ_SEQ_CASE3_BEINGEVICTED
  kLargePutRequestSeq = 0x0032,                   // PUTREQ_LARGEVALUE_SEQ
  kLargePutRequestSeqCase3 = 0x0052,              // PUTREQ_LARGEVALUE_SEQ_CASE3
  kLargePutRequestSeqBeingEvicted = 0x0082,       // PUTREQ_LARGEVALUE_SEQ_BEINGEVICTED
  kLargePutRequestSeqCase3BeingEvicted = 0x0092,  // PUTREQ_LARGEVALUE_SEQ_CASE3_BEINGEVICTED

  // NetCache: a write of a cached key, and how the server brings the switch up to date.
  kPutRequestSeqCached = 0x0043,       // NETCACHE_PUTREQ_SEQ_CACHED
  kDeleteRequestSeqCached = 0x0022,    // NETCACHE_DELREQ_SEQ_CACHED
  kLargePutRequestSeqCached = 0x0042,  // NETCACHE_PUTREQ_LARGEVALUE_SEQ_CACHED
  kValueUpdate = 0x003b,               // NETCACHE_VALUEUPDATE
  kValueUpdateAck = 0x0190,            // NETCACHE_VALUEUPDATE_ACK
};

inline constexpr std::size_t kKeyBytes = 16;
inline constexpr std::size_t kMaxValueBytes = 128;  // 16 slots of 8 bytes in the switch
inline constexpr std::size_t kMaxLargeValueBytes = std::size_t{64} << 10;
// Of the value in one fragment: with all headers an IPv4 packet of at most 1,488 bytes.
inline constexpr std::size_t kFragmentBytes = 1412;

using PacketKey = std::array<std::uint8_t, kKeyBytes>;  // as on the wire

// Numbers of writes have 30 bits (docs/kvcache.md §2): a larger one would be newer than any other.
inline constexpr std::uint32_t kLargestSequence = (std::uint32_t{1} << 30) - 1;

// `stat`: whether the key existed, or the write succeeded.
inline constexpr std::uint8_t kStatAbsent = 0;
inline constexpr std::uint8_t kStatSuccess = 1;
// `node` of an answer that the switch gave; any other value is a logical server's partition.
inline constexpr std::uint16_t kSwitchNode = 0xffff;

// Where the bytes of a fragment belong. What has the same sender, request id and transmission is
// one value: a retry, and another answer to a duplicate of the same request, are other
// transmissions.
struct Fragment {
  std::uint16_t client = 0;  // of a request: the client's number in the run, to recognise it by
  std::uint32_t transmission = 0;
  std::uint16_t index = 0;
  std::uint16_t count = 0;
  std::uint32_t value_length = 0;  // of the whole value; only in fragment 0
};

struct Packet {
  PacketType type{};
  PacketKey key{};
  std::uint32_t request_id = 0;
  std::span<const std::uint8_t> value{};  // not owned; after decode() it points into the datagram
  std::uint32_t sequence = 0;
  std::uint32_t snapshot_token = 0;  // of GETREQ_NLATEST and its answer: the slot's cell
  std::uint8_t stat = 0;
  std::uint16_t node = 0;
  Fragment fragment{};  // of large types, whose `value` is the bytes of this fragment
};

// Whether packets of this type are fragments of a large value.
constexpr bool is_large(PacketType type) {
  switch (type) {
    case PacketType::kLargePutRequest:
    case PacketType::kLargeGetResponse:
    case PacketType::kLargeGetResponseSeq:
    case PacketType::kLargePutRequestSeq:
    case PacketType::kLargePutRequestSeqCase3:
    case PacketType::kLargePutRequestSeqBeingEvicted:
    case PacketType::kLargePutRequestSeqCase3BeingEvicted:
    case PacketType::kLargePutRequestSeqCached:
      return true;
    default:
      return false;
  }
}

constexpr bool has_value(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 1) != 0;
}
constexpr bool has_sequence(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 2) != 0 || type == PacketType::kLargeGetResponseSeq;
}
constexpr bool has_inswitch(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 4) != 0;
}
constexpr bool has_stat(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 8) != 0 || type == PacketType::kLargeGetResponseSeq ||
         type == PacketType::kLargeGetResponse;
}
constexpr bool has_shadow(PacketType type) {
  return (static_cast<std::uint16_t>(type) & 0xf) != 0;
}

constexpr std::size_t padded(std::size_t value_bytes) {
  return (value_bytes + 7) / 8 * 8;
}

// Bytes of the UDP payload without fragments. `value_bytes` counts only for types that carry a
// value.
constexpr std::size_t encoded_size(PacketType type, std::size_t value_bytes) {
  constexpr std::size_t kOp = 2 + kKeyBytes, kRequest = 4, kVallen = 2, kShadow = 2, kSeq = 8,
                        kStat = 4;
  return kOp + kRequest + (has_value(type) ? kVallen + padded(value_bytes) : 0) +
         (has_shadow(type) ? kShadow : 0) + (has_sequence(type) ? kSeq : 0) +
         (has_stat(type) ? kStat : 0);
}

// Bytes of the UDP payload of fragment `index` with `bytes` of the value.
constexpr std::size_t encoded_fragment_size(PacketType type, std::size_t index, std::size_t bytes) {
  constexpr std::size_t kFraginfo = 10, kLength = 4;
  return encoded_size(type, 0) + kFraginfo + (index == 0 ? kLength : 0) + bytes;
}

// The UDP lengths of the reference §2.1 count 8 bytes of UDP header and no request id (4 bytes).
constexpr std::size_t kUdpHeaderMinusRequest = 8 - 4;
static_assert(encoded_size(PacketType::kGetRequest, 0) + kUdpHeaderMinusRequest == 26);
static_assert(encoded_size(PacketType{0x0002}, 0) + kUdpHeaderMinusRequest == 36);  // DELREQ_SEQ
static_assert(encoded_size(PacketType{0x000a}, 0) + kUdpHeaderMinusRequest == 40);  // PUTRES_SEQ
static_assert(encoded_size(PacketType{0x0003}, 128) + kUdpHeaderMinusRequest == 38 + 128);
static_assert(encoded_size(PacketType{0x006b}, 121) + kUdpHeaderMinusRequest == 42 + 128);

// Without large values no end host sends or receives more (GETRES_SEQ with a full value).
inline constexpr std::size_t kMaxPacketBytes =
    encoded_size(PacketType::kGetResponseSeq, kMaxValueBytes);
inline constexpr std::size_t kMaxFragmentPacketBytes =
    encoded_fragment_size(PacketType::kLargeGetResponseSeq, 0, kFragmentBytes);
static_assert(kMaxFragmentPacketBytes + 28 == 1488);  // with the headers of IPv4 and UDP

constexpr std::size_t fragments_of(std::size_t value_bytes) {
  return (value_bytes + kFragmentBytes - 1) / kFragmentBytes;
}

// Fragment `index` of `whole`, a packet of a large type that has all of its value and
// fragment.{client, transmission}.
Packet fragment_of(const Packet& whole, std::size_t index) noexcept;

enum class DecodeStatus : std::uint8_t {
  kOk,
  kTruncated,      // a header is cut off
  kTrailingBytes,  // more bytes than the type has headers
  kInSwitchType,   // a type that exists only inside the switch
  kValueTooLong,   // vallen > kMaxValueBytes
  kBadPadding,     // padding of the value is not zero
  kBadShadow,      // shadowtype differs from the type
  kBadFragment,    // no such fragment of a value of at most kMaxLargeValueBytes
};

// Reads `datagram` into `packet`; unless the answer is kOk, `packet` is unspecified.
DecodeStatus decode(std::span<const std::uint8_t> datagram, Packet& packet) noexcept;

// Writes `packet` to the start of `out` and returns its size; 0, and nothing written, if the value
// (or the fragment's share of it) is too long, `out` is too small, or the type exists only inside
// the switch.
std::size_t encode(const Packet& packet, std::span<std::uint8_t> out) noexcept;

}  // namespace turntable::kv
