#include "netclone/choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace turntable::netclone {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr std::uint64_t kRequests = 120'000;

// Five standard deviations of a binomial count.
double tolerance(double share) {
  return 5 * std::sqrt(static_cast<double>(kRequests) * share * (1 - share));
}

TEST(Groups, AreNumberedLexicographically) {
  const std::vector<Pair> expected = {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {0, 3}, {3, 0},
                                      {1, 2}, {2, 1}, {1, 3}, {3, 1}, {2, 3}, {3, 2}};
  for (std::uint32_t group = 1; group <= 12; ++group)
    EXPECT_EQ(pair_of_group(group, 4), expected[group - 1]) << group;
}

TEST(Groups, OfTwoServersAreTheTwoOrders) {
  EXPECT_EQ(group_count(2), 2U);
  EXPECT_EQ(pair_of_group(1, 2), (Pair{0, 1}));
  EXPECT_EQ(pair_of_group(2, 2), (Pair{1, 0}));
}

TEST(Groups, OfSixteenServersAreAllOrderedPairs) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (std::uint32_t group = 1; group <= group_count(16); ++group) {
    const auto [first, second] = pair_of_group(group, 16);
    EXPECT_NE(first, second);
    EXPECT_LT(std::max(first, second), 16U);
    seen.insert({first, second});
  }
  EXPECT_EQ(seen.size(), 240U);
}

TEST(ChosenGroup, IsAnyWithTheSameProbability) {
  std::map<std::uint32_t, double> counts;
  for (std::uint64_t request = 0; request < kRequests; ++request)
    ++counts[chosen_group(kSeed, request, 4)];
  EXPECT_EQ(counts.begin()->first, 1U);
  EXPECT_EQ(counts.rbegin()->first, 12U);
  for (const auto& [group, count] : counts)
    EXPECT_NEAR(count, kRequests / 12.0, tolerance(1 / 12.0)) << group;
}

TEST(ChosenServers, AreTwoDifferentOnes) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> counts;
  for (std::uint64_t request = 0; request < kRequests; ++request) {
    const auto [first, second] = chosen_servers(kSeed, request, 3);
    ASSERT_EQ(first, chosen_server(kSeed, request, 3));
    ++counts[{first, second}];
  }
  EXPECT_EQ(counts.size(), 6U);
  for (const auto& [pair, count] : counts) {
    EXPECT_NE(pair.first, pair.second);
    EXPECT_NEAR(count, kRequests / 6.0, tolerance(1 / 6.0));
  }
}

TEST(ChosenTable, IsEachHalfTheTime) {
  double second = 0;
  for (std::uint64_t request = 0; request < kRequests; ++request)
    second += chosen_table(kSeed, request);
  EXPECT_NEAR(second, kRequests / 2.0, tolerance(0.5));
}

}  // namespace
}  // namespace turntable::netclone
