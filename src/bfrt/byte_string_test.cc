#include "bfrt/byte_string.h"

#include <gtest/gtest.h>

namespace turntable::bfrt {
namespace {

using namespace std::string_literals;

TEST(ByteString, has_the_most_significant_byte_first) {
  EXPECT_EQ(to_byte_string(0x0102, 16), "\x01\x02"s);
  EXPECT_EQ(to_byte_string(0x0A000001, 32), "\x0A\x00\x00\x01"s);
}

TEST(ByteString, has_as_many_bytes_as_the_bits_need) {
  EXPECT_EQ(to_byte_string(5, 1).size(), 1U);
  EXPECT_EQ(to_byte_string(5, 9), "\x00\x05"s);
  EXPECT_EQ(to_byte_string(0xFFF, 9), "\x01\xFF"s);  // cut to nine bits
  EXPECT_EQ(to_byte_string(7, 128), std::string(15, '\0') + "\x07");
}

TEST(ByteString, reads_what_it_wrote) {
  const dataplane::uint128 wide = dataplane::uint128{0x0123456789ABCDEF} << 64 | 0xFEDCBA98;
  EXPECT_EQ(from_byte_string(to_byte_string(wide, 128), 128), wide);
  EXPECT_EQ(from_byte_string("\x01\xFF"s, 9), 0x1FFU);
}

TEST(ByteString, of_a_wrong_length_is_none) {
  EXPECT_FALSE(from_byte_string("\x01"s, 16));
  EXPECT_FALSE(from_byte_string("\x00\x00\x01"s, 16));
  EXPECT_FALSE(from_byte_string(""s, 8));
}

TEST(ByteString, with_bits_above_the_width_is_none) {
  EXPECT_FALSE(from_byte_string("\x02\x00"s, 9));
}

}  // namespace
}  // namespace turntable::bfrt
