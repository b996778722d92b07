#include "farreach/kv/value.h"

#include <gtest/gtest.h>

#include <vector>

namespace turntable::kv {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes value_of(std::size_t size, workload::KeyId key, std::uint64_t version) {
  Bytes value(size);
  fill_value(value, key, version);
  return value;
}

TEST(ValueTest, BeginsWithTheVersion) {
  const Bytes expected = {0, 1, 2, 3, 4, 5, 6, 7};
  const Bytes value = value_of(16, 42, 0x0001020304050607);
  EXPECT_EQ(Bytes(value.begin(), value.begin() + 8), expected);
}

TEST(ValueTest, MatchesOnlyItsKey) {
  for (std::size_t size : {8, 12, 13, 15, 16, 17, 64, 100, 127, 128}) {
    const Bytes value = value_of(size, 42, 7);
    EXPECT_TRUE(value_matches(value, 42)) << size;
    // The version alone says nothing about the key.
    EXPECT_EQ(value_matches(value, 43), size == 8) << size;
  }
}

TEST(ValueTest, EveryChangedByteIsNoticed) {
  const Bytes value = value_of(128, 42, 7);
  for (std::size_t i = 0; i < value.size(); ++i) {
    Bytes changed = value;
    changed[i] ^= 1;
    EXPECT_FALSE(value_matches(changed, 42)) << "byte " << i;
  }
}

TEST(ValueTest, ShorterValuesArePrefixes) {
  const Bytes longest = value_of(128, 42, 7);
  for (std::size_t size = 0; size < 128; ++size) {
    EXPECT_EQ(value_of(size, 42, 7),
              Bytes(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

TEST(ValueTest, VersionsDiffer) {
  EXPECT_NE(value_of(128, 42, 0), value_of(128, 42, 1));
}

}  // namespace
}  // namespace turntable::kv
