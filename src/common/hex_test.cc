#include "common/hex.h"

#include <gtest/gtest.h>

namespace turntable {
namespace {

using Bytes = std::vector<std::uint8_t>;

// RFC 4648, section 10: BASE16("foobar").
TEST(Hex, TwoDigitsForEachByte) {
  const Bytes foobar = {'f', 'o', 'o', 'b', 'a', 'r'};
  EXPECT_EQ(to_hex(foobar), "666f6f626172");
  EXPECT_EQ(from_hex("666F6F626172"), foobar);
  EXPECT_EQ(from_hex("00ff"), (Bytes{0, 255}));
  EXPECT_EQ(from_hex(""), Bytes{});
}

TEST(Hex, NothingOfWhatIsNoPairsOfDigits) {
  for (const char* const text : {"0", "030", "0g", "g0", "-1", "0x", " 1", "1 "})
    EXPECT_FALSE(from_hex(text)) << text;
}

}  // namespace
}  // namespace turntable
