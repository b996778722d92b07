#include "kv/client_copies.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "workload/random.h"

namespace turntable::kv {
namespace {

using Listed = ClientCopies::Listed;

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
  EXPECT_EQ(copies.release(std::array<Listed, 3>{{{1, 4}, {2, 5}, {3, 6}}}), 2u);
  EXPECT_EQ(numbers(copies), (Numbers{{1, 5}}));
}

TEST(ClientCopiesTest, AnUnlistedCopyIsDroppedOnlyIfItIsOlderThanThePreviousList) {
  ClientCopies copies(10);
  keep(copies, 1, 1);
  EXPECT_EQ(copies.release({}), 0u);  // there was no list before
  keep(copies, 2, 1);                 // admitted after the point of the list to come
  EXPECT_EQ(copies.release({}), 1u);  // key 1
  EXPECT_EQ(numbers(copies), (Numbers{{2, 1}}));
  keep(copies, 2, 2);  // a newer record is a new copy
  EXPECT_EQ(copies.release({}), 0u);
  EXPECT_EQ(copies.release({}), 1u);
  EXPECT_EQ(copies.size(), 0u);
}

TEST(ClientCopiesTest, WhatDoesNotFitIsDroppedAndCounted) {
  ClientCopies copies(2);
  keep(copies, 1, 1);
  keep(copies, 2, 1);
  keep(copies, 3, 1);
  keep(copies, 1, 2);  // has its place
  EXPECT_EQ(numbers(copies), (Numbers{{1, 2}, {2, 1}}));
  EXPECT_EQ(copies.dropped(), 1u);
  copies.release(std::array<Listed, 1>{{{1, 2}}});
  keep(copies, 3, 1);
  EXPECT_EQ(numbers(copies), (Numbers{{2, 1}, {3, 1}}));
  ClientCopies none(0);
  keep(none, 1, 1);
  EXPECT_EQ(none.size() + none.dropped(), 0u);
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
    const auto key = random.next() % 500, number = random.next() % 1000;
    keep(copies, key, static_cast<std::uint32_t>(number));
    const auto [at, fresh] = expected.try_emplace(key);
    if (fresh || at->second.number < number) {
      at->second = {static_cast<std::uint32_t>(number), lists};
    }
    if (i % 300 != 0) continue;
    std::vector<Listed> list;
    for (workload::KeyId listed = 0; listed < 500; listed += 1 + random.next() % 3)
      list.push_back({listed, static_cast<std::uint32_t>(random.next() % 1000)});
    copies.release(list);
    std::erase_if(expected, [&](const auto& entry) {
      for (const Listed& listed : list)
        if (listed.key == entry.first) return entry.second.number <= listed.number;
      return lists > 0 && entry.second.lists < lists;  // before list number `lists` arrived
    });
    ++lists;
    Numbers left;
    for (const auto& [key_left, kept] : expected) left[key_left] = kept.number;
    ASSERT_EQ(numbers(copies), left);
  }
}

}  // namespace
}  // namespace turntable::kv
