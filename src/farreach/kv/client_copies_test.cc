#include "farreach/kv/client_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "workload/random.h"

namespace turntable::kv {
namespace {

using Listed = ClientCopies::Listed;

constexpr bool kConfirmed = true;

void keep(ClientCopies& copies, workload::KeyId key, std::uint32_t number) {
  copies.keep({.key = key, .version = key * 1000 + number, .number = number, .exists = true});
}

std::map<workload::KeyId, std::uint32_t> numbers(const ClientCopies& copies) {
  std::map<workload::KeyId, std::uint32_t> found;
  copies.for_each([&](const ClientCopies::Copy& copy) {
    EXPECT_EQ(copy.version, copy.key * 1000 + copy.number);
    EXPECT_TRUE(found.emplace(copy.key, copy.number).second);
  });
  return found;
}

using Numbers = std::map<workload::KeyId, std::uint32_t>;

TEST(ClientCopiesTest, TheNewestRecordOfAKeyIsKept) {
  ClientCopies copies(10);
  keep(copies, 1, 5);
  keep(copies, 1, 4);
  keep(copies, 2, 1);
  keep(copies, 1, 6);
  EXPECT_EQ(numbers(copies), (Numbers{{1, 6}, {2, 1}}));
}

TEST(ClientCopiesTest, AListedCopyIsDroppedUnlessItIsNewer) {
  ClientCopies copies(10);
  keep(copies, 1, 5);
  keep(copies, 2, 5);
  keep(copies, 3, 5);
  EXPECT_EQ(copies.release(std::array<Listed, 3>{{{1, 4}, {2, 5}, {3, 6}}}, kConfirmed), 2u);
  EXPECT_EQ(numbers(copies), (Numbers{{1, 5}}));
}

TEST(ClientCopiesTest, AnUnlistedCopyIsDroppedOnlyIfItIsOlderThanThePreviousList) {
  ClientCopies copies(10);
  keep(copies, 1, 1);
  EXPECT_EQ(copies.release({}, kConfirmed), 0u);  // there was no list before
  keep(copies, 2, 1);                             // admitted after the point of the list to come
  EXPECT_EQ(copies.release({}, kConfirmed), 1u);  // key 1
  EXPECT_EQ(numbers(copies), (Numbers{{2, 1}}));
  keep(copies, 2, 2);  // a newer record is a new copy
  EXPECT_EQ(copies.release({}, kConfirmed), 0u);
  EXPECT_EQ(copies.release({}, kConfirmed), 1u);
  EXPECT_EQ(copies.size(), 0u);
}

TEST(ClientCopiesTest, WithoutConfirmationNoUnlistedCopyIsDropped) {
  ClientCopies copies(10);
  keep(copies, 1, 1);
  copies.release({}, kConfirmed);
  EXPECT_EQ(copies.release({}, /*confirmed=*/false), 0u);
  EXPECT_EQ(copies.release({}, kConfirmed), 1u);
}

TEST(ClientCopiesTest, WhatDoesNotFitIsDroppedAndCounted) {
  ClientCopies copies(2);
  keep(copies, 1, 1);
  keep(copies, 2, 1);
  keep(copies, 3, 1);
  keep(copies, 1, 2);  // has its place
  EXPECT_EQ(numbers(copies), (Numbers{{1, 2}, {2, 1}}));
  EXPECT_EQ(copies.dropped(), 1u);
  copies.release(std::array<Listed, 1>{{{1, 2}}}, kConfirmed);
  keep(copies, 3, 1);
  EXPECT_EQ(numbers(copies), (Numbers{{2, 1}, {3, 1}}));
  ClientCopies none(0);
  keep(none, 1, 1);
  EXPECT_EQ(none.size() + none.dropped(), 0u);
}

TEST(ClientCopiesTest, CopiesAreKeptWhileOthersAreReleasedAndVisited) {
  constexpr std::uint32_t kKeys = 3000;
  ClientCopies copies(kKeys);
  for (workload::KeyId key = 0; key < kKeys; ++key) keep(copies, key, 1);
  std::vector<Listed> odd_keys;
  for (workload::KeyId key = 1; key < kKeys; key += 2) odd_keys.push_back({key, UINT32_MAX});
  std::atomic<bool> over{false};
  std::thread keeper([&] {
    workload::Random random(1);
    for (std::uint32_t number = 2; !over; ++number) keep(copies, random.next() % kKeys, number);
  });
  for (int i = 0; i < 100; ++i) {
    copies.release(odd_keys, kConfirmed);
    std::size_t even = 0;
    copies.for_each([&](const ClientCopies::Copy& copy) { even += copy.key % 2 == 0 ? 1 : 0; });
    EXPECT_EQ(even, kKeys / 2);
    // What nothing lists goes with the list after next unless it is kept again.
    for (workload::KeyId key = 0; key < kKeys; key += 2) keep(copies, key, UINT32_MAX - 100 + i);
  }
  over = true;
  keeper.join();
  copies.release(odd_keys, kConfirmed);
  EXPECT_EQ(copies.size(), kKeys / 2);
}

TEST(ClientCopiesTest, AgreesWithAPlainMap) {
  ClientCopies copies(600);
  struct Kept {
    std::uint32_t number, lists;
  };
  std::map<workload::KeyId, Kept> expected;
  std::uint32_t lists = 0;
  workload::Random random(1);
  for (int i = 0; i < 50'000; ++i) {
    const auto key = workload::key_id(random.next() % 500), number = random.next() % 1000;
    keep(copies, key, static_cast<std::uint32_t>(number));
    const auto [at, fresh] = expected.try_emplace(key);
    if (fresh || at->second.number < number) {
      at->second = {static_cast<std::uint32_t>(number), lists};
    }
    if (i % 300 != 0) continue;
    std::vector<Listed> list;
    for (std::uint64_t listed = 0; listed < 500; listed += 1 + random.next() % 3)
      list.push_back({workload::key_id(listed), static_cast<std::uint32_t>(random.next() % 1000)});
    std::sort(list.begin(), list.end(),
              [](const Listed& one, const Listed& other) { return one.key < other.key; });
    const bool confirmed = random.next() % 4 != 0;
    copies.release(list, confirmed);
    std::erase_if(expected, [&](const auto& entry) {
      for (const Listed& listed : list)
        if (listed.key == entry.first) return entry.second.number <= listed.number;
      return confirmed && lists > 0 &&
             entry.second.lists < lists;  // before list number `lists` arrived
    });
    ++lists;
    Numbers left;
    for (const auto& [key_left, kept] : expected) left[key_left] = kept.number;
    ASSERT_EQ(numbers(copies), left);
  }
}

}  // namespace
}  // namespace turntable::kv
