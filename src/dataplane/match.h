// What an entry of a table matches, in the packed layout of packed_key.h, whatever its kind:
//   exact    first = value
//   lpm      first = value with the bits after the prefix cleared, second = mask of the prefix
//   ternary  first = value & mask, second = mask
//   range    first = low, second = high (both inclusive)
#pragma once

#include <cstdint>
#include <vector>

namespace turntable::dataplane {

enum class MatchKind { kExact, kLpm, kTernary, kRange };

struct Match {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> second;
  std::uint32_t priority = 0;  // of ternary and range tables; the lowest number wins

  auto operator<=>(const Match&) const = default;
};

struct KeyField {
  MatchKind kind;
  int offset;  // in bits, in the packed key
  int width;
};

}  // namespace turntable::dataplane
