#include "history/zone.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace turntable::history {
namespace {

// The definition: i must precede j if an operation of i ends before one of j begins.
bool conflicts(const Zone& i, const Zone& j) {
  return i.first_end < j.last_begin && j.first_end < i.last_begin;
}

bool any_conflict(const std::vector<Zone>& zones) {
  for (std::size_t i = 0; i < zones.size(); ++i) {
    for (std::size_t j = i + 1; j < zones.size(); ++j) {
      if (conflicts(zones[i], zones[j])) return true;
    }
  }
  return false;
}

TEST(Zone, OverlappingForwardZonesConflict) {
  EXPECT_TRUE(find_conflict(std::vector<Zone>{{0, 10}, {5, 20}}));
  EXPECT_FALSE(find_conflict(std::vector<Zone>{{0, 10}, {10, 20}})) << "they only touch";
}

TEST(Zone, BackwardZoneInsideAForwardOneConflicts) {
  EXPECT_TRUE(find_conflict(std::vector<Zone>{{0, 10}, {7, 3}}));
  EXPECT_FALSE(find_conflict(std::vector<Zone>{{0, 10}, {12, 3}})) << "it may come after";
  EXPECT_FALSE(find_conflict(std::vector<Zone>{{0, 10}, {7, 0}})) << "it may come before";
}

TEST(Zone, BackwardZonesNeverConflict) {
  EXPECT_FALSE(find_conflict(std::vector<Zone>{{10, 0}, {7, 3}, {5, 5}}));
}

TEST(Zone, AgreesWithTheDefinitionOnRandomZones) {
  std::mt19937 random(1997);
  std::uniform_int_distribution<std::int64_t> instant(0, 19);
  int with_conflict = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Zone> zones(2 + random() % 5);
    for (Zone& zone : zones) {
      zone = {.first_end = instant(random), .last_begin = instant(random)};
    }
    const auto found = find_conflict(zones);
    ASSERT_EQ(found.has_value(), any_conflict(zones)) << "round " << round;
    if (found) {
      ++with_conflict;
      EXPECT_TRUE(conflicts(zones[found->first], zones[found->second]));
    }
  }
  EXPECT_GT(with_conflict, 5'000);
  EXPECT_LT(with_conflict, 15'000);
}

}  // namespace
}  // namespace turntable::history
