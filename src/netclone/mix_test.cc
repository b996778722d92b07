#include "netclone/mix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "common/command_error.h"

namespace turntable::netclone {
namespace {

OperationMix read(const char* json) {
  return OperationMix::from_json("test", nlohmann::json::parse(json));
}

std::string error_of(const char* json) {
  try {
    read(json);
  } catch (const CommandError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OperationMix, OfNothingIsDrawnWork) {
  const OperationMix mix = read("null");
  EXPECT_FALSE(mix.stores());
  EXPECT_EQ(mix.operation(1, 2), Operation::kWork);
}

TEST(OperationMix, HasItsShareOfScans) {
  const OperationMix mix =
      read(R"([{"operation": "GET", "share": 0.9}, {"operation": "SCAN", "share": 0.1}])");
  EXPECT_EQ(mix.scan_share(), 0.1);
  int scans = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Operation operation = mix.operation(1, i);
    ASSERT_TRUE(operation == Operation::kGet || operation == Operation::kScan);
    scans += operation == Operation::kScan ? 1 : 0;
  }
  EXPECT_NEAR(scans, 10'000, 5 * std::sqrt(9'000));
}

TEST(OperationMix, OfGetsAloneHasNoScan) {
  const OperationMix mix = read(R"([{"operation": "GET", "share": 1}])");
  EXPECT_TRUE(mix.stores());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(mix.operation(1, i), Operation::kGet);
}

TEST(OperationMix, ErrorsSayWhatWasExpected) {
  const std::string form =
      R"(; expected null or [{"operation": "GET" or "SCAN", "share": 0 to 1}, ...])";
  EXPECT_EQ(error_of("[]"), "test: \"mix\" is []" + form);
  EXPECT_EQ(error_of("3"), "test: \"mix\" is 3" + form);
  EXPECT_EQ(error_of(R"([{"operation":"PUT","share":1}])"),
            R"(test: "mix" is [{"operation":"PUT","share":1}])" + form);
  EXPECT_EQ(
      error_of(R"([{"operation":"GET","share":0.9}])"),
      R"(test: "mix" is [{"operation":"GET","share":0.9}]; expected shares that add up to 1)");
}

}  // namespace
}  // namespace turntable::netclone
