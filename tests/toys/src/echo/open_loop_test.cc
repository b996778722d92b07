#include "echo/open_loop.h"

#include <gtest/gtest.h>

#include <cmath>

namespace turntable::echo {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

TEST(PoissonInstants, DependOnSeedAndRateAlone) {
  const auto once = poisson_instants(1000, 7, 0, kSecondNs);
  EXPECT_EQ(once, poisson_instants(1000, 7, 0, kSecondNs));
  EXPECT_NE(once, poisson_instants(1000, 8, 0, kSecondNs));
}

TEST(PoissonInstants, HaveThePlannedRateAndAnExponentialDistance) {
  const auto instants = poisson_instants(1000, 1, 5 * kSecondNs, 105 * kSecondNs);
  // 100,000 are expected, with a standard deviation of their root.
  EXPECT_NEAR(static_cast<double>(instants.size()), 1e5, 5 * std::sqrt(1e5));
  std::size_t long_ones = 0;
  for (std::size_t i = 1; i < instants.size(); ++i) {
    ASSERT_GE(instants[i], instants[i - 1]);
    if (instants[i] - instants[i - 1] > 1'000'000) ++long_ones;
  }
  EXPECT_NEAR(static_cast<double>(long_ones) / 1e5, std::exp(-1), 0.01);
  EXPECT_GE(instants.front(), 5 * kSecondNs);
  EXPECT_LT(instants.back(), 105 * kSecondNs);
}

}  // namespace
}  // namespace turntable::echo
