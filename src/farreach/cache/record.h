// A key-value record with its number, as servers, switch and controller exchange it.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/key.h"

namespace turntable::cache {

// Values of more bytes stay at the servers.
inline constexpr std::size_t kMaxCachedBytes = 128;
// Numbers of writes have 30 bits (docs/kvcache.md §2).
inline constexpr std::uint32_t kLargestNumber = (std::uint32_t{1} << 30) - 1;

struct Record {
  enum class Kind : std::uint8_t {
    kValue = 0,
    kDeleted = 1,  // a tombstone
    kAbsent = 2,   // the store has nothing; or only the key is meant
    kLarge = 3,    // more than kMaxCachedBytes; the bytes are not here
  };

  workload::KeyBytes key{};  // as on the wire of the data network
  Kind kind = Kind::kAbsent;
  std::uint32_t number = 0;         // of the write that made it; 0: the load
  std::vector<std::uint8_t> value;  // empty unless kValue

  bool operator==(const Record&) const = default;
};

inline Record key_only(const workload::KeyBytes& key) {
  return {.key = key, .value = {}};
}

}  // namespace turntable::cache
