// From a YCSB key number to the partition that serves it (FarReach reference, section 5):
//
//   key number --FNV-1a 64, Java abs--> key id --> 16 wire bytes --CRC-32--> slot --> partition
//
// Clients, servers and the switch compute the same slot; only the scale (number of logical servers)
// turns a slot into a partition.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace turntable::workload {

// What follows "user" in a YCSB key: 63 bits.
using KeyId = std::uint64_t;
using KeyBytes = std::array<std::uint8_t, 16>;

inline constexpr unsigned kSlots = 32768;

// FNV-1a 64 over the eight little-endian bytes of `value`, then Java's Math.abs: YCSB's Utils.hash.
// (Math.abs leaves the one value -2^63 negative; here it is 2^63.)
constexpr std::uint64_t fnv_hash(std::uint64_t value) {
  constexpr std::uint64_t kOffsetBasis = 0xCBF29CE484222325;
  constexpr std::uint64_t kPrime = 1099511628211;
  std::uint64_t hash = kOffsetBasis;
  for (int byte = 0; byte < 5; ++byte) {
    hash = (hash ^ (value & 0xFF)) * kPrime;
    value >>= 8;
  }
  // Key numbers and nearly all ranks end here: their other bytes are 0, which leave the hash as it
  // is before they multiply it.
  if (value == 0) {
    hash *= kPrime * kPrime * kPrime;
  } else {
    for (int byte = 5; byte < 8; ++byte) {
      hash = (hash ^ (value & 0xFF)) * kPrime;
      value >>= 8;
    }
  }
  return (hash >> 63) != 0 ? 0 - hash : hash;
}

// The id of the record that was inserted as number `key_number` ("hashed" insert order).
constexpr KeyId key_id(std::uint64_t key_number) {
  return fnv_hash(key_number);
}

namespace detail {

// The word whose bytes in memory are those of `value`, most significant first; and back.
constexpr std::uint64_t big_endian(std::uint64_t value) {
  return std::endian::native == std::endian::big ? value : __builtin_bswap64(value);
}

}  // namespace detail

// The key as it travels: eight zero bytes, the low word, then the high word as two swapped 16-bit
// halves, so that the switch can match the top 16 bits as a range.
inline KeyBytes wire_key(KeyId id) {
  const std::uint64_t last = id << 32 | std::rotl(static_cast<std::uint32_t>(id >> 32), 16);
  return std::bit_cast<KeyBytes>(std::array<std::uint64_t, 2>{0, detail::big_endian(last)});
}

// The inverse of wire_key; nothing if the first eight bytes are not zero.
inline std::optional<KeyId> key_id_from_wire(std::span<const std::uint8_t, 16> wire) {
  std::array<std::uint64_t, 2> words;
  std::memcpy(words.data(), wire.data(), wire.size());
  if (words[0] != 0) return std::nullopt;
  const std::uint64_t last = detail::big_endian(words[1]);
  return std::uint64_t{std::rotl(static_cast<std::uint32_t>(last), 16)} << 32 | last >> 32;
}

// The key in a store: plain big-endian, high word first, so that stores sort by id.
inline KeyBytes store_key(KeyId id) {
  return std::bit_cast<KeyBytes>(std::array<std::uint64_t, 2>{detail::big_endian(id), 0});
}

// CRC is linear over GF(2): the CRC of a wire key is that of the all-zero key xored with one term
// per byte of the id. The terms absorb the zero bytes and the permutation of the wire format.
struct CrcTables {
  std::uint32_t zero_key;
  std::array<std::array<std::uint32_t, 256>, 8> terms;  // [byte of the id, 0 = lowest][its value]
};
extern const CrcTables kCrcTables;

// CRC-32/ISO-HDLC (zlib's) over wire_key(id).
inline std::uint32_t crc_of(KeyId id) {
  std::uint32_t crc = kCrcTables.zero_key;
  for (unsigned i = 0; i < 8; ++i) crc ^= kCrcTables.terms[i][(id >> (8 * i)) & 0xFF];
  return crc;
}

inline std::uint16_t slot_of(KeyId id) {
  return static_cast<std::uint16_t>(crc_of(id) % kSlots);
}

// Throws bad_argument unless `scale` is at least 1 and divides 32,768.
void check_scale(std::uint64_t scale);

// `scale` must satisfy check_scale.
constexpr unsigned partition_of(std::uint16_t slot, unsigned scale) {
  return std::min(slot / (kSlots / scale), scale - 1);
}

}  // namespace turntable::workload
