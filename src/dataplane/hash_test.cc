#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string_view>
#include <vector>

#include "dataplane/checksum.h"
#include "dataplane/crc.h"

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
