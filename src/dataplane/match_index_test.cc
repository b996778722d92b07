// Each index against a plain search through all entries.
#include "dataplane/match_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "dataplane/ternary_index.h"

namespace turntable::dataplane {
namespace {

using Words = std::vector<std::uint64_t>;

TEST(PackedKey, FieldsAcrossWords) {
  Words words(3);
  pack_field(words.data(), 0, 60, 0x123456789ABCDEF);
  pack_field(words.data(), 60, 100, wide_constant(0x123456789, 0xABCDEF0123456789));
  EXPECT_TRUE(unpack_field(words.data(), 0, 60) == 0x123456789ABCDEF);
  EXPECT_TRUE(unpack_field(words.data(), 60, 100) ==
              wide_constant(0x123456789, 0xABCDEF0123456789));
}

TEST(ExactIndex, EqualsAMapUnderRandomChanges) {
  std::mt19937 random(7);
  ExactIndex<2> index;
  std::map<KeyWords<2>, std::uint32_t> expected;
  for (std::uint32_t step = 1; step <= 20'000; ++step) {
    const KeyWords<2> key{random() % 300, random() % 5};
    const auto found = expected.find(key);
    ASSERT_EQ(index.lookup(key), found == expected.end() ? kNoEntry : found->second);
    if (found != expected.end()) {
      index.erase(key);
      expected.erase(found);
    } else {
      index.insert(key, step);
      expected.emplace(key, step);
    }
    ASSERT_EQ(index.size(), expected.size());
  }
  for (const auto& [key, entry] : expected) EXPECT_EQ(index.lookup(key), entry);
}

std::uint64_t prefix_mask(int bits) {
  return bits == 0 ? 0 : (~0ULL << (16 - bits)) & 0xFFFF;
}

// Key: exact 8 bits at 0, lpm 16 bits at 8.
TEST(LpmMatchIndex, LongestPrefixOfTheSameExactKey) {
  std::mt19937 random(3);
  LpmMatchIndex<1, 8, 16> index;
  std::map<std::tuple<std::uint64_t, int, std::uint64_t>, std::uint32_t> entries;
  for (std::uint32_t entry = 1; entry <= 400; ++entry) {
    const std::uint64_t exact = random() % 3;
    const int bits = static_cast<int>(random() % 17);
    const std::uint64_t value = random() & prefix_mask(bits);
    const Match match{{exact | value << 8}, {prefix_mask(bits) << 8}, 0};
    if (const auto found = entries.find({exact, bits, value}); found != entries.end()) {
      EXPECT_EQ(index.find(match), found->second);
      index.erase(match);
      entries.erase(found);
    } else {
      index.insert(match, entry);
      entries.emplace(std::tuple{exact, bits, value}, entry);
    }
  }
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t exact = random() % 4, address = random() & 0xFFFF;
    std::uint32_t expected = kNoEntry;
    int longest = -1;
    for (const auto& [key, entry] : entries) {
      const auto& [entry_exact, bits, value] = key;
      if (entry_exact == exact && (address & prefix_mask(bits)) == value && bits > longest) {
        longest = bits;
        expected = entry;
      }
    }
    EXPECT_EQ(index.lookup({exact | address << 8}), expected);
  }
}

// Key: exact 4 bits at 0, range 10 bits at 4.
TEST(RangeMatchIndex, LowestPriorityOfAllRangesThatContainTheValue) {
  std::mt19937 random(11);
  RangeMatchIndex<1, 4, 10> index;
  std::map<Match, std::uint32_t> entries;
  for (std::uint32_t step = 1; step <= 600; ++step) {
    const std::uint64_t exact = random() % 2;
    std::uint64_t low = random() % 1024, high = random() % 1024;
    if (low > high) std::swap(low, high);
    const Match match{{exact | low << 4}, {high << 4}, step};  // a priority of its own: no ties
    index.insert(match, step);
    entries.emplace(match, step);
    if (random() % 3 == 0) {
      const auto victim = std::next(entries.begin(), random() % entries.size());
      EXPECT_EQ(index.find(victim->first), victim->second);
      index.erase(victim->first);
      entries.erase(victim);
    }
    if (step % 20 != 0) continue;
    index.commit();
    for (std::uint64_t value = 0; value < 1024; ++value) {
      std::uint32_t expected = kNoEntry, best = ~0U;
      for (const auto& [candidate, entry] : entries) {
        const bool contains = (candidate.first[0] & 0xF) == exact &&
                              candidate.first[0] >> 4 <= value && value <= candidate.second[0] >> 4;
        if (contains && candidate.priority < best) {
          best = candidate.priority;
          expected = entry;
        }
      }
      ASSERT_EQ(index.lookup({exact | value << 4}), expected) << value;
    }
  }
}

TEST(RangeMatchIndex, FullWidthOf64Bits) {
  RangeMatchIndex<1, 0, 64> index;
  index.insert({{5}, {~0ULL}, 0}, 1);
  index.commit();
  EXPECT_EQ(index.lookup({~0ULL}), 1U);
  EXPECT_EQ(index.lookup({5}), 1U);
  EXPECT_EQ(index.lookup({4}), kNoEntry);
}

TEST(TernaryMatchIndex, PriorityThenOrderOfInsertion) {
  TernaryMatchIndex<1> index({{MatchKind::kTernary, 0, 8}, {MatchKind::kRange, 8, 8}});
  const Match broad{{0x00 | 0 << 8}, {0x00 | 0xFF << 8}, 5};
  const Match narrow{{0x0A | 3 << 8}, {0x0F | 4 << 8}, 5};
  const Match first{{0x0A | 4 << 8}, {0xFF | 4 << 8}, 1};
  index.insert(broad, 1);
  index.insert(narrow, 2);
  index.insert(first, 3);
  EXPECT_EQ(index.lookup({0x0AULL | 4 << 8}), 3U);
  EXPECT_EQ(index.lookup({0x1AULL | 4 << 8}), 1U);  // broad was there before narrow
  index.erase(broad);
  EXPECT_EQ(index.lookup({0x1AULL | 4 << 8}), 2U);
  EXPECT_EQ(index.lookup({0x1AULL | 5 << 8}), kNoEntry);
  EXPECT_EQ(index.find(broad), kNoEntry);
}

// Two ranges, of which the second lies in both words, beside a ternary field.
TEST(TernaryMatchIndex, SameAsLookingAtEveryEntry) {
  struct Entry {
    std::uint64_t value, mask, low[2], high[2];
    std::uint32_t priority, number;
    Match match;
  };
  TernaryMatchIndex<2> index({{MatchKind::kTernary, 0, 4},
                              {MatchKind::kRange, 4, 3},
                              {MatchKind::kTernary, 7, 55},
                              {MatchKind::kRange, 62, 4}});
  const auto words = [](std::uint64_t ternary, std::uint64_t first, std::uint64_t second) {
    return KeyWords<2>{ternary | first << 4 | second << 62, second >> 2};
  };
  std::mt19937 random(7);
  std::vector<Entry> entries;
  for (std::uint32_t step = 1; step <= 300; ++step) {
    if (entries.size() < 12 || random() % 2 == 0) {
      Entry entry{.value = 0,
                  .mask = random() % 16,
                  .low = {},
                  .high = {},
                  .priority = static_cast<std::uint32_t>(random() % 5),
                  .number = step,
                  .match = {}};
      entry.value = random() & entry.mask;
      for (int i = 0; i < 2; ++i) {
        const std::uint64_t bounds[] = {random() % (i == 0 ? 8 : 16), random() % (i == 0 ? 8 : 16)};
        entry.low[i] = std::min(bounds[0], bounds[1]);
        entry.high[i] = std::max(bounds[0], bounds[1]);
      }
      const KeyWords<2> first = words(entry.value, entry.low[0], entry.low[1]);
      const KeyWords<2> second = words(entry.mask, entry.high[0], entry.high[1]);
      entry.match = {{first.begin(), first.end()}, {second.begin(), second.end()}, entry.priority};
      if (index.find(entry.match) != kNoEntry) continue;
      index.insert(entry.match, entry.number);
      entries.push_back(entry);
    } else {
      const auto victim = entries.begin() + static_cast<std::ptrdiff_t>(random() % entries.size());
      index.erase(victim->match);
      entries.erase(victim);
    }
    for (int probe = 0; probe < 50; ++probe) {
      const std::uint64_t ternary = random() % 16, first = random() % 8, second = random() % 16;
      const Entry* best = nullptr;
      for (const Entry& entry : entries) {
        const bool matches = ((ternary ^ entry.value) & entry.mask) == 0 && entry.low[0] <= first &&
                             first <= entry.high[0] && entry.low[1] <= second &&
                             second <= entry.high[1];
        if (matches && (best == nullptr || entry.priority < best->priority)) best = &entry;
      }
      ASSERT_EQ(index.lookup(words(ternary, first, second)),
                best == nullptr ? kNoEntry : best->number);
    }
  }
}

}  // namespace
}  // namespace turntable::dataplane
