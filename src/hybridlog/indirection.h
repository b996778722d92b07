// An indirection record (Shadowfax §3.3): it stands in a chain for records that are on the device
// of another store, where a range of keys came from (docs/shadowfax-design.md §3). Of the keys that
// it covers it says: those that have no record here at or above a floor, which is the migration's,
// are asked for there. What lies below the floor is of an earlier time, and counts for nothing.
//
// So it matters nothing whether it is above or below the records of its migration in the chain. The
// newest one that covers a key counts.
//
//   header (sized, indirection) | hash u64 | 40 u32, 0 u32
//   | migration u64 | range's first u64, last u64 | address u64 | bits u32, log u32         64
//   bytes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hybridlog/address.h"
#include "hybridlog/hash_index.h"
#include "hybridlog/hash_range.h"
#include "hybridlog/value.h"

namespace turntable::hybridlog {

struct Indirection {
  static constexpr std::size_t kBytes = 40;  // its record's value

  std::uint64_t hash = 0;  // of all that it covers: the lowest bits, and the tag
  std::uint64_t migration = 0;
  HashRange range{};
  Address address = kNoAddress;  // where the chain goes on, in the other log
  std::uint32_t bits = 0;        // the lowest ones
  std::uint32_t log = 0;         // which other one

  std::uint64_t mask() const noexcept { return (std::uint64_t{1} << bits) - 1; }
  bool covers(std::uint64_t of_key) const noexcept {
    return ((of_key ^ hash) & mask()) == 0 &&
           IndexEntry::tag_of(of_key) == IndexEntry::tag_of(hash) && range.contains(of_key);
  }
  // That of a chain which begins in the bucket, of an index of 2^bits buckets.
  static constexpr std::uint64_t hash_of_chain(std::uint64_t bucket, std::uint64_t tag) noexcept {
    return IndexEntry(tag, bucket).word();
  }

  using Words = std::array<std::uint64_t, kBytes / sizeof(std::uint64_t)>;
  Words value() const noexcept {
    return {migration, range.first, range.last, address, std::uint64_t{log} << 32U | bits};
  }
  // hash: the record's key. value: of kBytes.
  static Indirection of(std::uint64_t hash, const std::byte* value) noexcept {
    Words words;
    std::memcpy(words.data(), value, kBytes);
    return {.hash = hash,
            .migration = words[0],
            .range = {words[1], words[2]},
            .address = words[3],
            .bits = static_cast<std::uint32_t>(words[4]),
            .log = static_cast<std::uint32_t>(words[4] >> 32U)};
  }
  bool operator==(const Indirection&) const = default;
};

}  // namespace turntable::hybridlog
