#include "common/clock.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace turntable {
namespace {

// CLOCK_REALTIME is 1,000,000 ahead. `readings` are monotonic instants, in the order of reading.
std::int64_t offset_with(const std::vector<std::int64_t>& readings) {
  std::size_t next = 0;
  const auto monotonic = [&] { return readings.at(next++); };
  const auto real = [&] { return readings.at(next++) + 1'000'000; };
  return realtime_to_monotonic_ns(monotonic, real);
}

TEST(Clock, IsReadOnceWhereNothingComesBetween) {
  EXPECT_EQ(offset_with({500, 540, 580}), -1'000'000);
}

// Of the first three, the middle would be 1,000 + 4,000,000 / 2: 1,999,960 from the true offset.
TEST(Clock, AnInterruptionBetweenTheReadingsIsNoticed) {
  EXPECT_EQ(offset_with({1'000, 1'040, 4'001'000, 4'001'100, 4'001'140, 4'001'180}), -1'000'000);
  EXPECT_EQ(offset_with({1'000, 4'001'000, 4'001'040, 4'001'100, 4'001'140, 4'001'180}),
            -1'000'000);
}

// Eight times: 20,000 apart, and 10,000 the fourth time, when the true offset is in the middle.
TEST(Clock, TheClosestReadingsAreBelieved) {
  std::vector<std::int64_t> readings;
  for (std::int64_t i = 0, now = 0; i < 8; ++i, now += 100'000) {
    const std::int64_t apart = i == 3 ? 10'000 : 20'000;
    const std::int64_t between = i == 3 ? 5'000 : 1'000;
    readings.insert(readings.end(), {now, now + between, now + apart});
  }
  EXPECT_EQ(offset_with(readings), -1'000'000);
}

TEST(Clock, RealtimeInstantsFallBetweenMonotonicOnes) {
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t offset = realtime_to_monotonic_ns();
    const std::int64_t before = monotonic_ns();
    const std::int64_t between = realtime_ns() + offset;
    const std::int64_t after = monotonic_ns();
    EXPECT_GE(between, before - 1'000);
    EXPECT_LE(between, after + 1'000);
  }
}

}  // namespace
}  // namespace turntable
