// A range of keys' hashes.
#pragma once

#include <cstdint>

namespace turntable::hybridlog {

// Both ends are in it.
struct HashRange {
  std::uint64_t first = 0, last = UINT64_MAX;

  constexpr bool contains(std::uint64_t hash) const noexcept {
    return first <= hash && hash <= last;
  }
  constexpr bool operator==(const HashRange&) const = default;
};

}  // namespace turntable::hybridlog
