#include "workload/analysis.h"

#include <gtest/gtest.h>

#include "common/command_error.h"
#include "workload/key.h"

namespace turntable::workload {
namespace {

std::vector<double> two_halves(double lower, double upper) {
  std::vector<double> load(kSlots);
  load.front() = lower;
  load.back() = upper;
  return load;
}

TEST(Analysis, BusiestServerLimitsTheWhole) {
  const ScaleAnalysis analysis = analyze_scale(2, two_halves(30, 10), two_halves(25, 0));
  EXPECT_EQ(analysis.uncached.shares, (std::vector<double>{0.75, 0.25}));
  EXPECT_EQ(analysis.uncached.bottleneck, 0U);
  EXPECT_DOUBLE_EQ(*analysis.uncached.normalized, 40.0 / 30);
  EXPECT_DOUBLE_EQ(*analysis.uncached.imbalance, 3);
  // The switch takes 25 of 40; the servers are left with 5 and 10.
  EXPECT_DOUBLE_EQ(analysis.hit_mass, 25.0 / 40);
  EXPECT_EQ(analysis.cached.bottleneck, 1U);
  EXPECT_DOUBLE_EQ(*analysis.cached.normalized, 40.0 / 10);
  EXPECT_DOUBLE_EQ(*analysis.cached.imbalance, 2);
}

TEST(Analysis, IdleServersHaveNoRatio) {
  const ScaleAnalysis one_idle = analyze_scale(2, two_halves(1, 0), two_halves(0, 0));
  EXPECT_DOUBLE_EQ(*one_idle.uncached.normalized, 1);
  EXPECT_FALSE(one_idle.uncached.imbalance.has_value());
  const ScaleAnalysis all_cached = analyze_scale(2, two_halves(1, 2), two_halves(1, 2));
  EXPECT_FALSE(all_cached.cached.normalized.has_value());
  EXPECT_FALSE(all_cached.cached.imbalance.has_value());
}

TEST(Analysis, NearTiesAreThoseWithinATenthOfAPercent) {
  EXPECT_EQ(analyze_scale(2, two_halves(1, 1.0009), two_halves(0, 0)).near_ties.size(), 1U);
  EXPECT_EQ(analyze_scale(2, two_halves(1, 1.0011), two_halves(0, 0)).near_ties.size(), 0U);
}

TEST(Analysis, OtherScalesAreRefused) {
  EXPECT_THROW(analyze_scale(24, two_halves(1, 1), two_halves(0, 0)), CommandError);
}

}  // namespace
}  // namespace turntable::workload
