#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string_view>
#include <vector>

#include "dataplane/checksum.h"
#include "dataplane/crc.h"
#include "dataplane/hash_input.h"
#include "dataplane/wire.h"

namespace turntable::dataplane {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The check values of the CRC catalogue (reveng.sourceforge.io): the CRC of "123456789".
TEST(Crc, CatalogueCheckValues) {
  const auto digits = bytes_of("123456789");
  EXPECT_EQ(crc<kCrc32>(digits), 0xCBF43926U);          // CRC-32/ISO-HDLC
  EXPECT_EQ(crc<kCrc16>(digits), 0xBB3DU);              // CRC-16/ARC
  EXPECT_EQ(crc<kCrc8>(digits), 0xF4U);                 // CRC-8/SMBUS
  EXPECT_EQ(crc<kCrc64>(digits), 0x6C40DF5F0B497347U);  // CRC-64/ECMA-182
  constexpr CrcParameters kIbm3740{16, 0x1021, 0xFFFF, 0, false};
  EXPECT_EQ(crc<kIbm3740>(digits), 0x29B1U);  // CRC-16/IBM-3740
  constexpr CrcParameters kCrc32c{32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true};
  EXPECT_EQ(crc<kCrc32c>(digits), 0xE3069283U);  // CRC-32/ISCSI
}

TEST(Crc, Crc32EqualsZlib) {
  std::mt19937 random(1);
  for (std::size_t length = 0; length < 64; ++length) {
    std::vector<std::uint8_t> data(length);
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
    EXPECT_EQ(crc<kCrc32>(data), crc32(0, data.data(), static_cast<uInt>(length)));
  }
}

// An unreflected CRC of more than eight bytes: that of data followed by it is 0.
TEST(Crc, RemainderOfACodeWordIsZero) {
  constexpr CrcParameters kXmodem{16, 0x1021, 0, 0, false};
  std::mt19937 random(2);
  for (std::size_t length = 0; length < 64; ++length) {
    std::vector<std::uint8_t> data(length);
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> word = data;
    for (int shift = 56; shift >= 0; shift -= 8)
      word.push_back(static_cast<std::uint8_t>(crc<kCrc64>(data) >> shift));
    EXPECT_EQ(crc<kCrc64>(word), 0U);
    word = data;
    word.push_back(static_cast<std::uint8_t>(crc<kXmodem>(data) >> 8));
    word.push_back(static_cast<std::uint8_t>(crc<kXmodem>(data)));
    EXPECT_EQ(crc<kXmodem>(word), 0U);
  }
}

// FarReach reference §5.2: the hottest key of all Zipfian workloads.
TEST(Crc, SlotOfTheHottestKey) {
  const std::vector<std::uint8_t> key = {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                         0x6D, 0x14, 0x35, 0x2C, 0x08, 0x17, 0x23, 0xAE};
  EXPECT_EQ(crc<kCrc32>(key), 0x3758766DU);
  EXPECT_EQ(crc<kCrc32>(key) % 32768, 30317U);
}

// Fields of all alignments, one of them cut by a word's end, before `Bytes` bytes of others.
template <int Bytes, class Input>
void put_fields(Input& input, std::mt19937_64& random) {
  input.template put<0, 3>(to_bit<3>(random()));
  input.template put<3, 5>(to_bit<5>(random()));
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (input.template put<8 + 8 * I, 8>(to_bit<8>(random())), ...);
  }
  (std::make_integer_sequence<int, Bytes>{});
}

template <CrcParameters P, int Bytes>
void expect_crc_of_its_bytes() {
  std::mt19937_64 random(Bytes), same(Bytes);
  HashInput<8 * (Bytes + 1)> input;
  FieldList<8 * (Bytes + 1)> list;
  put_fields<Bytes>(input, random);
  put_fields<Bytes>(list, same);
  EXPECT_EQ(input.template crc<P>(), crc<P>(list.bytes())) << Bytes + 1 << " bytes, " << P.width;
}

template <CrcParameters P>
void expect_crcs_of_their_bytes() {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (expect_crc_of_its_bytes<P, I>(), ...);
  }
  (std::make_integer_sequence<int, 41>{});
}

TEST(HashInput, CrcIsThatOfItsBytes) {
  expect_crcs_of_their_bytes<kCrc8>();
  expect_crcs_of_their_bytes<kCrc16>();
  expect_crcs_of_their_bytes<kCrc32>();
  expect_crcs_of_their_bytes<kCrc64>();
  expect_crcs_of_their_bytes<kRandomHash>();
  expect_crcs_of_their_bytes<CrcParameters{16, 0x1021, 0xFFFF, 0, false}>();
  expect_crcs_of_their_bytes<CrcParameters{32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true}>();
  expect_crcs_of_their_bytes<CrcParameters{10, 0x233, 0x3FF, 0x155, false}>();
}

// The catalogue's value for "123456789", and zlib's for what is longer than a step.
TEST(HashInput, CrcOfFields) {
  HashInput<72> digits;
  digits.put<0, 8>('1');
  digits.put<8, 32>(0x32333435);
  digits.put<40, 20>(0x36373);
  digits.put<60, 12>(0x839);
  EXPECT_EQ(digits.crc<kCrc32>(), 0xCBF43926U);
  EXPECT_EQ(digits.crc<kCrc16>(), 0xBB3DU);
  EXPECT_EQ(digits.crc<kCrc64>(), 0x6C40DF5F0B497347U);

  HashInput<256> zeros_and_one;
  zeros_and_one.put<152, 100>(wide_constant(1, 0));
  std::vector<std::uint8_t> bytes(32);
  bytes[23] = 0x10;  // bit 187 of the list: 152 + 99 - 64
  EXPECT_EQ(zeros_and_one.crc<kCrc32>(), crc32(0, bytes.data(), 32));
}

TEST(HashInput, LowBitsAndXor) {
  HashInput<24> input;
  input.put<0, 4>(0xA);
  input.put<4, 12>(0xBCD);
  input.put<16, 8>(0xEF);
  EXPECT_EQ(input.low_bits<12>(), 0xDEF);
  EXPECT_EQ(input.xor_of_words<16>(), 0xABCD ^ 0xEF00);
  HashInput<136> wide;
  wide.put<8, 128>(wide_constant(0x0123456789ABCDEF, 0xFEDCBA9876543210));
  EXPECT_EQ(wide.low_bits<100>(),
            to_bit<100>(wide_constant(0x0123456789ABCDEF, 0xFEDCBA9876543210)));
}

// The example of RFC 1071, section 3: the sum of these bytes is ddf2, before the complement.
TEST(Checksum, ExampleOfRfc1071) {
  const std::vector<std::uint8_t> data = {0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7};
  EXPECT_EQ(Checksum::compute(data), 0xFFFF - 0xDDF2);
}

TEST(Checksum, ResidueIsTheSumOfRfc1071) {
  const std::vector<std::uint8_t> data = {0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7};
  Checksum checksum;
  checksum.add(data);
  EXPECT_EQ(checksum.get(), 0xDDF2);
}

TEST(Checksum, SubtractUndoesAdd) {
  const std::vector<std::uint8_t> a = {0x12, 0x34, 0xFF}, b = {0xAB, 0xCD};
  Checksum both, one;
  both.add(a);
  both.add(b);
  both.subtract(b);
  one.add(a);
  EXPECT_EQ(both.get(), one.get());
}

TEST(Checksum, VerifyTellsOfAnError) {
  const std::vector<std::uint8_t> data = {0x45, 0x00, 0x00, 0x1C};
  const std::uint16_t sum = Checksum::compute(data);
  Checksum checksum;
  checksum.add(data);
  EXPECT_TRUE(checksum.verify());
  const std::vector<std::uint8_t> tail = {static_cast<std::uint8_t>(sum >> 8),
                                          static_cast<std::uint8_t>(sum)};
  checksum.add(tail);
  EXPECT_FALSE(checksum.verify());
}

}  // namespace
}  // namespace turntable::dataplane
