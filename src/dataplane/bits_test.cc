#include "dataplane/bits.h"

#include <gtest/gtest.h>

namespace turntable::dataplane {
namespace {

TEST(Bits, UnsignedArithmeticWraps) {
  EXPECT_EQ(bit_ops::add<8>(Unsigned<8>{200}, Unsigned<8>{100}), 44);          // 300 - 256
  EXPECT_EQ(bit_ops::sub<5>(Unsigned<5>{1}, Unsigned<5>{2}), 31);              // -1 + 32
  EXPECT_EQ(bit_ops::mul<16>(Unsigned<16>{0xFFFF}, Unsigned<16>{0xFFFF}), 1);  // (-1)² mod 2^16
  EXPECT_EQ(bit_ops::negate<3>(Unsigned<3>{3}), 5);
  EXPECT_EQ(bit_ops::complement<12>(Unsigned<12>{0xABC}), 0x543);
}

TEST(Bits, UnsignedSaturation) {
  EXPECT_EQ(bit_ops::sat_add<8>(Unsigned<8>{200}, Unsigned<8>{100}), 255);
  EXPECT_EQ(bit_ops::sat_add<8>(Unsigned<8>{200}, Unsigned<8>{55}), 255);
  EXPECT_EQ(bit_ops::sat_sub<8>(Unsigned<8>{5}, Unsigned<8>{6}), 0);
  EXPECT_EQ(bit_ops::sat_add<64>(~0ULL, 1ULL), ~0ULL);
}

TEST(Bits, SignedArithmeticWrapsAndSaturates) {
  EXPECT_EQ(int_ops::add<8>(Signed<8>{127}, Signed<8>{1}), -128);
  EXPECT_EQ(int_ops::sat_add<8>(Signed<8>{127}, Signed<8>{1}), 127);
  EXPECT_EQ(int_ops::sat_sub<8>(Signed<8>{-128}, Signed<8>{1}), -128);
  EXPECT_EQ(int_ops::sat_sub<8>(Signed<8>{0}, Signed<8>{-128}), 127);
  EXPECT_EQ(int_ops::negate<4>(Signed<4>{-8}), -8);
  EXPECT_EQ(to_int<4>(0xF), -1);
}

TEST(Bits, ShiftsByTheWidthAndMore) {
  EXPECT_EQ(bit_ops::shift_left<8>(Unsigned<8>{0xFF}, 8U), 0);
  EXPECT_EQ(bit_ops::shift_right<64>(~0ULL, 64U), 0ULL);
  EXPECT_EQ(int_ops::shift_right<8>(Signed<8>{-128}, 200U), -1);
  EXPECT_EQ(int_ops::shift_right<8>(Signed<8>{-128}, 3U), -16);
}

TEST(Bits, SlicesAndConcatenation) {
  EXPECT_EQ((slice<11, 4>(Unsigned<16>{0x1234})), 0x23);
  EXPECT_EQ((with_slice<16, 11, 4>(Unsigned<16>{0x1234}, Unsigned<8>{0xAB})), 0x1AB4);
  EXPECT_EQ((concat<12, 4>(Unsigned<8>{0xAB}, Unsigned<4>{0xC})), 0xABC);
  EXPECT_TRUE((concat<128, 64>(1ULL, 2ULL)) == wide_constant(1, 2));
}

TEST(Bits, Widths128) {
  const uint128 ones = ~uint128{0};
  EXPECT_TRUE(bit_ops::add<128>(ones, uint128{1}) == 0);
  EXPECT_TRUE(bit_ops::sat_add<128>(ones, uint128{1}) == ones);
  EXPECT_TRUE(bit_ops::add<100>(to_bit<100>(ones), uint128{1}) == 0);
}

}  // namespace
}  // namespace turntable::dataplane
