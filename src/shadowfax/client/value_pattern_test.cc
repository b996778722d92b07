#include "shadowfax/client/value_pattern.h"

#include <gtest/gtest.h>

#include <vector>

namespace turntable::shadowfax {
namespace {

std::vector<std::byte> written(std::uint64_t key, std::uint64_t mark, std::size_t bytes) {
  std::vector<std::byte> rest(bytes);
  ValuePattern(key, mark).write(rest);
  return rest;
}

TEST(ValuePattern, EveryChangedByteIsNoticed) {
  for (const std::size_t bytes : {16, 17, 23, 24, 248}) {
    const auto rest = written(7, 5, bytes);
    EXPECT_TRUE(ValuePattern::is_right(7, rest));
    EXPECT_FALSE(ValuePattern::is_right(8, rest));
    for (std::size_t at = 0; at < bytes; ++at) {
      auto changed = rest;
      changed[at] ^= std::byte{1};
      EXPECT_FALSE(ValuePattern::is_right(7, changed)) << at << " of " << bytes;
    }
  }
}

TEST(ValuePattern, HalvesOfTwoWritesDoNotGoTogether) {
  const auto one = written(7, 5, 248), other = written(7, 6, 248);
  EXPECT_NE(one, other);
  for (std::size_t at = 8; at < 248; at += 8) {
    auto torn = one;
    std::copy(other.begin() + static_cast<std::ptrdiff_t>(at), other.end(),
              torn.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_FALSE(ValuePattern::is_right(7, torn)) << at;
  }
}

// There is no room for a mark and a word behind it, which would say anything.
TEST(ValuePattern, ShortOnesAreAlwaysRight) {
  EXPECT_TRUE(ValuePattern::is_right(7, written(7, 5, 0)));
  EXPECT_TRUE(ValuePattern::is_right(7, written(7, 5, 3)));
  EXPECT_TRUE(ValuePattern::is_right(7, written(7, 5, 8)));
}

}  // namespace
}  // namespace turntable::shadowfax
