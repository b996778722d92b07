#include "netclone/laedge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

namespace turntable::netclone {
namespace {

TEST(LaedgeCredits, BinaryServesOneRequestPerServer) {
  LaedgeCredits credits(LaedgeMode::kBinary, {8, 8, 8});
  EXPECT_EQ(credits.choose(1, 0).copies, 2U);
  EXPECT_EQ(credits.choose(1, 1).copies, 1U);
  EXPECT_EQ(credits.choose(1, 2).copies, 0U);
}

TEST(LaedgeCredits, SlotsServeOneRequestPerWorker) {
  LaedgeCredits credits(LaedgeMode::kSlots, {2, 1, 1});
  unsigned copies = 0;
  while (const unsigned more = credits.choose(1, copies).copies) copies += more;
  EXPECT_EQ(copies, 4U);
}

TEST(LaedgeCredits, CopiesGoToDifferentServersWithEqualProbability) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> pairs;
  for (std::uint64_t request = 0; request < 60'000; ++request) {
    LaedgeCredits credits(LaedgeMode::kSlots, {8, 8, 8});
    const auto choice = credits.choose(7, request);
    ASSERT_EQ(choice.copies, 2U);
    ++pairs[{choice.server[0], choice.server[1]}];
  }
  EXPECT_EQ(pairs.size(), 6U);
  for (const auto& [pair, count] : pairs) {
    EXPECT_NE(pair.first, pair.second);
    EXPECT_NEAR(count, 10'000, 5 * std::sqrt(10'000 * 5 / 6.0));
  }
}

TEST(LaedgeCredits, AnAnswerMakesItsServerIdleAgain) {
  LaedgeCredits credits(LaedgeMode::kBinary, {1, 1});
  credits.choose(1, 0);
  credits.answered(1);
  const auto choice = credits.choose(1, 1);
  EXPECT_EQ(choice.copies, 1U);
  EXPECT_EQ(choice.server[0], 1U);
  EXPECT_EQ(credits.choose(1, 2).copies, 0U);
}

TEST(LaedgeCredits, ARequestOfTheQueueTakesACreditToo) {
  LaedgeCredits credits(LaedgeMode::kBinary, {1, 1});
  credits.choose(1, 0);
  credits.answered(0);
  credits.take(0);
  EXPECT_EQ(credits.choose(1, 1).copies, 0U);
}

}  // namespace
}  // namespace turntable::netclone
