#include "hybridlog/hash_index.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hybridlog/testing_schedules.h"
#include "workload/random.h"

namespace turntable::hybridlog {
namespace {

using testing::Schedule;
using testing::ScheduledAtomic;

constexpr std::uint64_t hash(std::uint64_t tag, std::uint64_t bucket = 0) {
  return tag << 48U | bucket;
}

TEST(HashIndex, AnEntryIsAnAddressWithATag) {
  const IndexEntry entry(0x3fff, 0xffff'ffff'ffff);
  EXPECT_EQ(entry.tag(), 0x3fffU);
  EXPECT_EQ(entry.address(), 0xffff'ffff'ffffU);
  EXPECT_FALSE(entry.is_tentative());
  EXPECT_TRUE(entry.tentative().is_tentative());
  EXPECT_EQ(entry.tentative().tag(), 0x3fffU);
  EXPECT_FALSE(IndexEntry(0, kNoAddress).is_free());
}

TEST(HashIndex, FindsWhatWasMade) {
  HashIndex index(2);
  EXPECT_FALSE(index.find(hash(5)));
  const auto made = index.find_or_make(hash(5));
  EXPECT_EQ(made.entry.address(), kNoAddress);
  EXPECT_TRUE(made.replace(64));
  EXPECT_FALSE(made.replace(128));  // it has changed since
  EXPECT_EQ(index.find(hash(5)).entry.address(), 64U);
  EXPECT_EQ(index.find_or_make(hash(5)).entry.address(), 64U);
  EXPECT_FALSE(index.find(hash(5, 1)));
  EXPECT_FALSE(index.find(hash(6)));
}

TEST(HashIndex, RefusesWhatIsNoPowerOfTwo) {
  EXPECT_THROW(HashIndex(0), std::invalid_argument);
  EXPECT_THROW(HashIndex(3), std::invalid_argument);
}

// All 16,384 tags in one bucket: 2,341 buckets one behind the other.
TEST(HashIndex, OverflowsWithoutLosingAnything) {
  HashIndex index(1);
  constexpr std::uint64_t kTags = 1U << 14U;
  for (std::uint64_t tag = 0; tag < kTags; ++tag)
    ASSERT_TRUE(index.find_or_make(hash(tag)).replace(64 + tag));
  for (std::uint64_t tag = 0; tag < kTags; ++tag)
    ASSERT_EQ(index.find(hash(tag)).entry.address(), 64 + tag);
  EXPECT_EQ(index.overflow_buckets(), (kTags + 6) / 7 - 1);
}

std::map<std::uint64_t, int> entries_by_tag(auto& index) {
  std::map<std::uint64_t, int> found;
  for (std::size_t bucket = 0; bucket < index.buckets(); ++bucket) {
    index.for_each_entry(bucket, [&](const auto& word) {
      const IndexEntry entry(word.load());
      if (entry.is_free()) return;
      EXPECT_FALSE(entry.is_tentative());
      ++found[entry.tag()];
    });
  }
  return found;
}

TEST(HashIndex, ThreadsMakeEachTagOnce) {
  constexpr std::uint64_t kTags = 2000;
  HashIndex index(1);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      threads.emplace_back([&, seed] {
        workload::Random random(seed);
        for (int i = 0; i < 10'000; ++i) {
          const auto found = index.find_or_make(hash(random.next() % kTags));
          EXPECT_TRUE(found);
          found.replace(64);
        }
      });
    }
  }
  for (const auto& [tag, count] : entries_by_tag(index)) EXPECT_EQ(count, 1) << tag;
}

using ScheduledIndex = BasicHashIndex<ScheduledAtomic>;

// Two threads insert tags of one bucket, which has `before` entries, in every order.
Schedule::Explored insert_in_every_order(const std::vector<std::uint64_t>& tags,
                                         std::uint64_t before, std::size_t most_switches) {
  std::unique_ptr<ScheduledIndex> index;
  std::vector<ScheduledIndex::Found> found;
  return Schedule::explore(
      [&] {
        index = std::make_unique<ScheduledIndex>(1);
        for (std::uint64_t tag = 1000; tag < 1000 + before; ++tag) index->find_or_make(hash(tag));
        found.assign(tags.size(), {});
        Schedule::Threads threads;
        for (std::size_t i = 0; i < tags.size(); ++i)
          threads.emplace_back([&, i] { found[i] = index->find_or_make(hash(tags[i])); });
        return threads;
      },
      [&] {
        const auto entries = entries_by_tag(*index);
        std::map<std::uint64_t, std::set<const void*>> places;
        for (std::size_t i = 0; i < tags.size(); ++i) {
          ASSERT_TRUE(found[i]);
          places[tags[i]].insert(found[i].place);
        }
        for (const auto& [tag, each] : places) {
          ASSERT_EQ(each.size(), 1U) << "threads have different places of one tag";
          ASSERT_EQ(entries.at(tag), 1) << "one tag has several entries";
        }
        ASSERT_EQ(entries.size(), places.size() + before);
      },
      most_switches, /*most_steps=*/150);
}

// A thread that sees another's tentative entry tries again until that is gone: it does not end
// where the other one is never run again.
TEST(HashIndexOrders, TwoThreadsMakeOneEntryOfATag) {
  const auto explored = insert_in_every_order({7, 7}, 0, 3);
  EXPECT_GT(explored.orders, 1000U);
  EXPECT_LT(explored.endless, explored.orders / 2);
}

TEST(HashIndexOrders, InTheLastFreePlaceOfABucket) {
  const auto explored = insert_in_every_order({7, 8}, 6, 3);
  EXPECT_GT(explored.orders, 1000U);
}

TEST(HashIndexOrders, InABucketWithoutRoom) {
  const auto explored = insert_in_every_order({7, 7}, 7, 3);
  EXPECT_GT(explored.orders, 1000U);
}

TEST(HashIndexOrders, ThreeThreads) {
  const auto explored = insert_in_every_order({7, 7, 7}, 0, 2);
  EXPECT_GT(explored.orders, 1000U);
}

}  // namespace
}  // namespace turntable::hybridlog
