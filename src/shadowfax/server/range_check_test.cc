// Ranges that are looked up beside views.

#include "shadowfax/server/range_check.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace turntable::shadowfax {
namespace {

using hybridlog::HashRange;

TEST(RangeCheck, OwnsAllAtFirst) {
  for (const std::size_t count : {1U, 3U, 4096U}) {
    const RangeCheck check({.kind = RangeCheckKind::kSplits, .splits = count});
    const RangeCheck::Batch batch(check);
    for (const std::uint64_t hash : {std::uint64_t{0}, UINT64_MAX / 3, UINT64_MAX})
      EXPECT_TRUE(batch.owns(hash)) << count << " " << hash;
  }
}

// Ends of ranges that are no ends of the pieces: 2^64 / 3 and its neighbours, however many there
// are.
TEST(RangeCheck, KnowsExactEnds) {
  constexpr std::uint64_t kFirst = UINT64_MAX / 3, kLast = UINT64_MAX / 2 + 7;
  for (const std::size_t count : {1U, 2U, 64U, 65'536U}) {
    RangeCheck check({.kind = RangeCheckKind::kSplits, .splits = count});
    check.own({{kFirst, kLast}, {UINT64_MAX, UINT64_MAX}});
    const RangeCheck::Batch batch(check);
    EXPECT_FALSE(batch.owns(0)) << count;
    EXPECT_FALSE(batch.owns(kFirst - 1)) << count;
    EXPECT_TRUE(batch.owns(kFirst)) << count;
    EXPECT_TRUE(batch.owns(kLast)) << count;
    EXPECT_FALSE(batch.owns(kLast + 1)) << count;
    EXPECT_FALSE(batch.owns(UINT64_MAX - 1)) << count;
    EXPECT_TRUE(batch.owns(UINT64_MAX)) << count;
  }
}

TEST(RangeCheck, NothingIsOwned) {
  RangeCheck check({.kind = RangeCheckKind::kSplits, .splits = 5});
  check.own({});
  EXPECT_FALSE(RangeCheck::Batch(check).owns(1));
}

TEST(RangeCheck, AChangeOfOwnerWaitsForBatchesThatHoldTheLock) {
  RangeCheck check({.kind = RangeCheckKind::kLock});
  std::atomic<bool> is_changed{false};
  std::jthread changing;
  {
    const RangeCheck::Batch batch(check), other(check);  // they share it
    EXPECT_FALSE(batch.looks_keys_up());
    changing = std::jthread([&] {
      check.own({});
      is_changed = true;
    });
    for (int i = 0; i < 1000; ++i) {
      ASSERT_FALSE(is_changed);
      std::this_thread::yield();
    }
  }
  changing.join();
  EXPECT_TRUE(is_changed);
}

TEST(RangeCheck, HasWords) {
  EXPECT_EQ(range_check_of("lock"), RangeCheckKind::kLock);
  EXPECT_EQ(range_check_of("Lock"), std::nullopt);
}

}  // namespace
}  // namespace turntable::shadowfax
