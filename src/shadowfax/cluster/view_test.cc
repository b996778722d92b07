#include "shadowfax/cluster/view.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "workload/random.h"

namespace turntable::shadowfax {
namespace {

using hybridlog::HashRange;

constexpr std::uint64_t kThird = UINT64_MAX / 3;  // 2^64 is one more than a multiple of 3

TEST(View, AShareBeginsWithTheFirstHash) {
  const View view = View::equal(2);
  const std::uint64_t half = std::uint64_t{1} << 63U;
  EXPECT_EQ(view.share_of(0, 1), (HashRange{0, half - 1}));
  // A quarter of 2^63 - 1 hashes, and the first one.
  EXPECT_EQ(view.share_of(1, 0.25), (HashRange{half, half + (half >> 2U)}));
  EXPECT_EQ(view.share_of(2, 0.5), std::nullopt);
}

TEST(View, PartsAreEqualAndLeaveNothingOut) {
  const View view = View::equal(3);
  ASSERT_EQ(view.parts().size(), 3U);
  EXPECT_EQ(view.parts()[1].first, kThird + 1);      // ceil(2^64 / 3)
  EXPECT_EQ(view.parts()[2].first, 2 * kThird + 1);  // ceil(2 * 2^64 / 3)
  EXPECT_EQ(view.owner_of(0), 0U);
  EXPECT_EQ(view.owner_of(kThird), 0U);
  EXPECT_EQ(view.owner_of(kThird + 1), 1U);
  EXPECT_EQ(view.owner_of(UINT64_MAX), 2U);
}

// Server i of n owns hash h where i = floor(h * n / 2^64).
TEST(View, AgreesWithOwnersThatAreComputed) {
  const auto owner_of = [](std::uint64_t hash, ServerNumber servers) {
    return static_cast<ServerNumber>((__uint128_t{hash} * servers) >> 64U);
  };
  workload::Random random(1);
  for (const ServerNumber servers : {1U, 2U, 3U, 7U, 1000U}) {
    const View view = View::equal(servers);
    for (const View::Part& part : view.parts()) {
      EXPECT_EQ(owner_of(part.first, servers), part.owner);
      if (part.first > 0) {
        EXPECT_EQ(owner_of(part.first - 1, servers), part.owner - 1);
      }
    }
    for (int i = 0; i < 10'000; ++i) {
      const std::uint64_t hash = random.next();
      ASSERT_EQ(view.owner_of(hash), owner_of(hash, servers));
    }
  }
}

TEST(View, ARangeGetsAnotherOwner) {
  const View before = View::equal(2);
  const View middle = before.with_owner({100, 199}, 1);
  EXPECT_EQ(middle.number(), 2U);
  for (const auto& [hash, owner] : std::initializer_list<std::pair<std::uint64_t, unsigned>>{
           {0, 0}, {99, 0}, {100, 1}, {199, 1}, {200, 0}, {UINT64_MAX, 1}})
    EXPECT_EQ(middle.owner_of(hash), owner) << hash;
  EXPECT_TRUE(middle.is_owner(1, {100, 199}));
  EXPECT_FALSE(middle.is_owner(1, {100, 200}));
  EXPECT_FALSE(middle.is_owner(0, {0, 100}));
  EXPECT_EQ(middle.ranges_of(0), (std::vector<HashRange>{{0, 99}, {200, UINT64_MAX / 2}}));
  // Back again, and the parts are those of before.
  EXPECT_EQ(middle.with_owner({100, 199}, 0).parts(), before.parts());
}

TEST(View, EndsOfAllHashesAreInTheRange) {
  const View all = View::equal(2).with_owner({0, UINT64_MAX}, 1);
  EXPECT_EQ(all.parts(), (std::vector<View::Part>{{0, 1}}));
  const View upper = View::equal(2).with_owner({UINT64_MAX, UINT64_MAX}, 0);
  EXPECT_EQ(upper.owner_of(UINT64_MAX), 0U);
  EXPECT_EQ(upper.owner_of(UINT64_MAX - 1), 1U);
}

// Every hash has the owner of before, or the new one if it is in the range.
TEST(View, RangesAtRandom) {
  workload::Random random(2);
  View view = View::equal(3);
  for (int round = 0; round < 300; ++round) {
    std::uint64_t first = random.next() % 1000, last = random.next() % 1000;
    if (first > last) std::swap(first, last);
    const auto to = static_cast<ServerNumber>(random.next() % 3);
    const View next = view.with_owner({first, last}, to);
    for (std::uint64_t hash = 0; hash < 1001; ++hash)
      ASSERT_EQ(next.owner_of(hash), first <= hash && hash <= last ? to : view.owner_of(hash));
    for (std::size_t i = 1; i < next.parts().size(); ++i)
      ASSERT_NE(next.parts()[i - 1].owner, next.parts()[i].owner);
    view = next;
  }
}

TEST(View, PartsThatMeanNothingAreRefused) {
  EXPECT_THROW(View(1, {}), std::invalid_argument);
  EXPECT_THROW(View(1, {{1, 0}}), std::invalid_argument);
  EXPECT_THROW(View(1, {{0, 0}, {5, 1}, {5, 0}}), std::invalid_argument);
}

}  // namespace
}  // namespace turntable::shadowfax
