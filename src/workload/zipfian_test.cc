#include "workload/zipfian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "workload/zeta.h"

namespace turntable::workload {
namespace {

double summed_zeta(std::uint64_t n, double theta) {
  long double sum = 0;
  for (std::uint64_t i = 1; i <= n; ++i) sum += std::pow(static_cast<long double>(i), -theta);
  return static_cast<double>(sum);
}

TEST(Zeta, AgreesWithTheSum) {
  for (const double theta : {0.01, 0.5, 0.9, 0.95, 0.99, 0.9999}) {
    for (const std::uint64_t n : {1U, 2U, 63U, 64U, 65U, 1000U, 1'000'000U}) {
      const double expected = summed_zeta(n, theta);
      EXPECT_NEAR(zeta(n, theta), expected, 1e-14 * expected) << n << " " << theta;
    }
  }
}

TEST(Zeta, DifferencesAgreeWithTheSum) {
  for (const auto& [first, last] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 5}, {3, 100}, {64, 80}, {1000, 1003}, {1000, 1009}, {1000, 50'000}}) {
    const double expected = summed_zeta(last, 0.99) - summed_zeta(first, 0.99);
    EXPECT_NEAR(zeta_between(first, last, 0.99), expected, 1e-14) << first << " " << last;
  }
}

TEST(Zeta, AgreesWithTheConstantPublishedByYcsb) {
  // YCSB's ZETAN carries the rounding errors of 10^10 additions.
  EXPECT_NEAR(zeta(10'000'000'000, 0.99), 26.46902820178302, 2e-9);
}

TEST(Zipfian, FirstTwoRanksHaveTheirExactShares) {
  const Zipfian zipfian = Zipfian::scrambled(0.99);
  EXPECT_DOUBLE_EQ(zipfian.cumulative(1), 1 / 26.46902820178302);
  EXPECT_DOUBLE_EQ(zipfian.cumulative(2), (1 + std::pow(0.5, 0.99)) / 26.46902820178302);
  EXPECT_EQ(zipfian.rank(0), 0U);
  EXPECT_EQ(zipfian.rank(std::nextafter(zipfian.cumulative(1), 0)), 0U);
  EXPECT_EQ(zipfian.rank(zipfian.cumulative(1) + 1e-12), 1U);
  EXPECT_EQ(zipfian.rank(zipfian.cumulative(2) + 1e-12), 2U);
}

TEST(Zipfian, CumulativeInvertsRank) {
  for (const double theta : {0.1, 0.5, 0.9, 0.99, 0.999}) {
    const Zipfian zipfian(1'000'000, theta);
    for (const std::uint64_t rank : {1U, 2U, 3U, 4U, 10U, 1000U, 123'456U, 999'999U}) {
      const double edge = zipfian.cumulative(rank);
      EXPECT_EQ(zipfian.rank(edge - 1e-11), rank - 1) << theta;
      EXPECT_EQ(zipfian.rank(edge + 1e-11), rank) << theta;
    }
  }
}

TEST(Zipfian, FewItemsBehaveAsInJava) {
  EXPECT_EQ(Zipfian(0, 0.99).rank(0.7), 0U);
  EXPECT_EQ(Zipfian(1, 0.99).rank(0.7), 0U);
  EXPECT_EQ(Zipfian(2, 0.99).rank(0.6), 0U);  // 0.6 * 1.5035 < 1
  EXPECT_EQ(Zipfian(2, 0.99).rank(0.7), 1U);
  EXPECT_EQ(Zipfian(2, 0.99).cumulative(2), 1);
  Zipfian grown(0, 0.99);
  grown.grow(3);
  EXPECT_EQ(grown.rank(0.99), 0U);  // eta is infinite: Java casts NaN to 0
}

TEST(Zipfian, GrowthFollowsZeta) {
  Zipfian zipfian(1000, 0.99);
  zipfian.grow(2000);
  EXPECT_DOUBLE_EQ(zipfian.cumulative(1), 1 / zeta(2000, 0.99));
  zipfian.grow(1500);  // YCSB ignores a decrease
  EXPECT_DOUBLE_EQ(zipfian.cumulative(1), 1 / zeta(2000, 0.99));
}

}  // namespace
}  // namespace turntable::workload
