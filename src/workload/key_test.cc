#include "workload/key.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "common/command_error.h"

namespace turntable::workload {
namespace {

// The hottest key of all theta 0.99 workloads: FarReach reference, section 5.2.
constexpr KeyId kHottest = 2571001333982442796;

TEST(Key, HottestKeyIsThePublishedOne) {
  EXPECT_EQ(fnv_hash(0) % 100'000'001, 19'559'233U);
  EXPECT_EQ(key_id(19'559'233), kHottest);
}

TEST(Key, WireBytesSwapTheHalvesOfTheHighWord) {
  const KeyBytes expected = {0,    0,    0,    0,    0,    0,    0,    0,
                             0x6d, 0x14, 0x35, 0x2c, 0x08, 0x17, 0x23, 0xae};
  EXPECT_EQ(wire_key(kHottest), expected);
}

TEST(Key, StoreKeyIsBigEndian) {
  const KeyBytes expected = {0x23, 0xae, 0x08, 0x17, 0x6d, 0x14, 0x35, 0x2c};
  EXPECT_EQ(store_key(kHottest), expected);
}

TEST(Key, WireKeyCanBeReadBack) {
  for (const KeyId id : {KeyId{0}, KeyId{1}, kHottest, (KeyId{1} << 63) - 1, KeyId{1} << 63}) {
    EXPECT_EQ(key_id_from_wire(wire_key(id)), id);
  }
}

TEST(Key, WireKeyWithNonzeroPrefixIsRefused) {
  KeyBytes bytes = wire_key(kHottest);
  bytes[7] = 1;
  EXPECT_EQ(key_id_from_wire(bytes), std::nullopt);
}

TEST(Key, CrcOfTheHottestKeyIsThePublishedOne) {
  EXPECT_EQ(crc_of(kHottest), 0x3758766dU);
  EXPECT_EQ(slot_of(kHottest), 30317);
  EXPECT_EQ(partition_of(30317, 16), 14U);
  EXPECT_EQ(partition_of(30317, 32), 29U);
  EXPECT_EQ(partition_of(30317, 64), 59U);
  EXPECT_EQ(partition_of(30317, 128), 118U);
  EXPECT_EQ(partition_of(30317, 2), 1U);
}

TEST(Key, CrcAgreesWithZlib) {
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    const KeyBytes bytes = wire_key(key_id(number));
    ASSERT_EQ(crc_of(key_id(number)), crc32(0, bytes.data(), bytes.size())) << number;
  }
}

TEST(Key, EveryScaleThatDividesTheSlotsIsAccepted) {
  for (unsigned scale = 1; scale <= kSlots; scale *= 2) {
    check_scale(scale);
    EXPECT_EQ(partition_of(kSlots - 1, scale), scale - 1);
  }
}

TEST(Key, OtherScalesAreRefused) {
  for (const std::uint64_t scale : {0ULL, 3ULL, 24ULL, 65536ULL, (1ULL << 32) + 16}) {
    EXPECT_THROW(check_scale(scale), CommandError) << scale;
  }
}

}  // namespace
}  // namespace turntable::workload
