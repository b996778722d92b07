#include "dataplane/wire.h"

#include <gtest/gtest.h>

#include <vector>

namespace turntable::dataplane {
namespace {

constexpr std::array<std::uint8_t, 20> kBytes = {0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE,
                                                 0xF0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
                                                 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC};

TEST(Wire, LoadsAlignedFieldsBigEndian) {
  EXPECT_EQ((load_bits<0, 8>(kBytes.data())), 0x12);
  EXPECT_EQ((load_bits<8, 16>(kBytes.data())), 0x3456);
  EXPECT_EQ((load_bits<0, 32>(kBytes.data())), 0x12345678U);
  EXPECT_EQ((load_bits<0, 48>(kBytes.data())), 0x123456789ABCU);
}

TEST(Wire, LoadsOtherWholeBytes) {
  EXPECT_EQ((load_bits<8, 24>(kBytes.data())), 0x345678U);
  EXPECT_EQ((load_bits<16, 40>(kBytes.data())), 0x56789ABCDEU);
  EXPECT_EQ((load_bits<24, 48>(kBytes.data())), 0x789ABCDEF011U);
  EXPECT_EQ((load_bits<32, 56>(kBytes.data())), 0x9ABCDEF0112233U);
}

TEST(Wire, LoadsFieldsAcrossBytes) {
  EXPECT_EQ((load_bits<4, 4>(kBytes.data())), 0x2);
  EXPECT_EQ((load_bits<4, 12>(kBytes.data())), 0x234);
  // 0x12 0x34 = 0001 0010 0011 0100: bits 3 to 11 are 1 0010 0011
  EXPECT_EQ((load_bits<3, 9>(kBytes.data())), 0b100100011);
  // 64 bits over nine bytes
  EXPECT_EQ((load_bits<4, 64>(kBytes.data())), 0x23456789ABCDEF01U);
  EXPECT_TRUE((load_bits<4, 128>(kBytes.data())) ==
              wide_constant(0x23456789ABCDEF01, 0x1223344556677889));
}

template <int Offset, int Width>
void expect_round_trip(Unsigned<Width> value) {
  std::array<std::uint8_t, 20> bytes;
  bytes.fill(0xFF);
  store_bits<Offset, Width>(bytes.data(), value);
  EXPECT_TRUE((load_bits<Offset, Width>(bytes.data()) == value)) << Offset << " " << Width;
  for (int bit = 0; bit < 160; ++bit) {  // everything around it is untouched
    if (bit >= Offset && bit < Offset + Width) continue;
    EXPECT_NE(bytes[bit / 8] & (0x80 >> bit % 8), 0) << "bit " << bit;
  }
}

TEST(Wire, StoresLeaveTheirNeighboursAlone) {
  expect_round_trip<0, 16>(0x1234);
  expect_round_trip<8, 24>(0x123456);
  expect_round_trip<16, 40>(0x123456789A);
  expect_round_trip<48, 48>(0x123456789ABC);
  expect_round_trip<8, 56>(0x123456789ABCDE);
  expect_round_trip<3, 13>(0x0AAA);
  expect_round_trip<7, 9>(0x0AA);
  expect_round_trip<1, 47>(0x5555AAAA5555);
  expect_round_trip<5, 59>(0x0123456789ABCDE);
  expect_round_trip<4, 64>(0x0123456789ABCDEF);
  expect_round_trip<13, 100>(to_bit<100>(wide_constant(0x123456789, 0xABCDEF0123456789)));
  expect_round_trip<9, 128>(wide_constant(0x0123456789ABCDEF, 0xFEDCBA9876543210));
}

TEST(Wire, FieldListIsTheBytesSideBySide) {
  FieldList<24> list;
  list.put<0, 4>(0xA);
  list.put<4, 12>(0xBCD);
  list.put<16, 8>(0xEF);
  const std::vector<std::uint8_t> bytes(list.bytes().begin(), list.bytes().end());
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0xAB, 0xCD, 0xEF}));
}

}  // namespace
}  // namespace turntable::dataplane
