// Expected values: the tables of P4Runtime 1.4, "Bytestrings".
#include "p4runtime_server/bytestring.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using namespace std::string_literals;

std::uint64_t number(const std::string& bytes, int width) {
  return static_cast<std::uint64_t>(from_bytestring(bytes, width, "field"));
}

bool is_out_of_range(const std::string& bytes, int width) {
  try {
    from_bytestring(bytes, width, "field");
  } catch (const Refusal& refusal) {
    return refusal.code() == grpc::StatusCode::OUT_OF_RANGE;
  }
  return false;
}

TEST(Bytestring, LeadingZerosAreTaken) {
  EXPECT_EQ(number("\x63"s, 8), 99U);
  EXPECT_EQ(number("\x00\x63"s, 16), 99U);
  EXPECT_EQ(number("\x30\x64"s, 16), 12388U);
  EXPECT_EQ(number("\x00\x30\x64"s, 16), 12388U);
  EXPECT_EQ(number("\x00\x00\x63"s, 12), 99U);
  EXPECT_EQ(number(std::string(100, '\0') + "\x63", 8), 99U);
}

TEST(Bytestring, WhatDoesNotFitIsRefused) {
  EXPECT_TRUE(is_out_of_range("\x01\x63"s, 8));
  EXPECT_TRUE(is_out_of_range("\x10\x63"s, 12));
  EXPECT_TRUE(is_out_of_range("\x01\x00\x63"s, 16));
  EXPECT_TRUE(is_out_of_range(""s, 8));
  EXPECT_FALSE(is_out_of_range(std::string(16, '\xFF'), 128));
  EXPECT_TRUE(is_out_of_range(std::string(17, '\xFF'), 128));
}

TEST(Bytestring, WhatIsSentIsShortest) {
  EXPECT_EQ(to_bytestring(99), "\x63"s);
  EXPECT_EQ(to_bytestring(12388), "\x30\x64"s);
  EXPECT_EQ(to_bytestring(0), "\x00"s);
  EXPECT_EQ(bytestring_of("0x0102030405060708090a0b0c0d0e0f10", {128}),
            "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"s);
  EXPECT_EQ(bytestring_of(true, {1}), "\x01"s);
}

std::uint64_t bits(const std::string& bytes, int width) {
  return value_of(bytes, {width, true}, "field").get<std::uint64_t>();
}

TEST(Bytestring, SignedNumbersAreTwosComplement) {
  EXPECT_EQ(bits("\x63"s, 8), 0x63U);
  EXPECT_EQ(bits("\x9d"s, 8), 0x9DU);        // -99
  EXPECT_EQ(bits("\xff\x9d"s, 8), 0x9DU);    // sign-extended
  EXPECT_EQ(bits("\xfd\x1d"s, 12), 0xD1DU);  // -739
  EXPECT_EQ(bits("\x00\x00"s, 16), 0U);
  EXPECT_EQ(bits("\xff"s, 32), 0xFFFFFFFFU);                  // -1
  for (const std::string& wide : {"\x00\x80"s, "\xff\x7f"s})  // 128, -129
    EXPECT_THROW(bits(wide, 8), Refusal);
  EXPECT_THROW(bits("\x08\x00"s, 12), Refusal);  // 2048
  EXPECT_THROW(bits(""s, 8), Refusal);
  EXPECT_EQ(bytestring_of(0x63, {8, true}), "\x63"s);
  EXPECT_EQ(bytestring_of(0x9D, {8, true}), "\x9d"s);
  EXPECT_EQ(bytestring_of(0xD1D, {12, true}), "\xfd\x1d"s);
  EXPECT_EQ(bytestring_of(0, {16, true}), "\x00"s);
  EXPECT_EQ(bytestring_of(255, {32, true}), "\x00\xff"s);
  EXPECT_EQ(bytestring_of(0xFFFFFFFFU, {32, true}), "\xff"s);
}

}  // namespace
}  // namespace turntable::p4runtime_server
