// Colours by RFC 2698, section 3: buckets begin full, and fill at their rates.
#include "dataplane/meter.h"

#include <gtest/gtest.h>

namespace turntable::dataplane {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// One packet per second, with room for two, in both buckets.
Meter one_per_second() {
  Meter meter(1, MeterUnit::kPackets);
  meter.set_limits(0, MeterLimits{1, 1, 2, 2});
  return meter;
}

// Timestamps have 48 bits: 78 hours. Whatever the hour, a meter fills from its first packet on.
TEST(Meter, FillsAtEveryHourOfTheClock) {
  for (const std::uint64_t hours : {0U, 1U, 39U, 40U, 77U}) {
    Meter meter = one_per_second();
    const std::uint64_t start = hours * 3600 * kSecond;
    EXPECT_EQ(meter.execute(0, 0, start), kGreen) << hours;
    EXPECT_EQ(meter.execute(0, 0, start), kGreen) << hours;
    EXPECT_EQ(meter.execute(0, 0, start), kRed) << hours;
    EXPECT_EQ(meter.execute(0, 0, start + kSecond), kGreen) << hours;
    EXPECT_EQ(meter.execute(0, 0, start + kSecond), kRed) << hours;
  }
}

TEST(Meter, FillsWhereItsClockBeginsAgain) {
  Meter meter = one_per_second();
  const std::uint64_t last = (std::uint64_t{1} << 48) - 1;
  meter.execute(0, 0, last);
  meter.execute(0, 0, last);
  EXPECT_EQ(meter.execute(0, 0, kSecond), kGreen);
}

}  // namespace
}  // namespace turntable::dataplane
