// The lists of FarReach reference §7, by hand.
#include "workload/popularity.h"

#include <gtest/gtest.h>

#include "common/command_error.h"

namespace turntable::workload {
namespace {

using Keys = std::vector<KeyId>;
using Lists = std::vector<Keys>;

const Keys kHottest = {10, 11, 12, 13, 14};

TEST(HotLists, HotInPutsColdKeysFirstAndTheLastFallOut) {
  const auto lists =
      hot_lists(Pattern::kHotIn, kHottest,
                {{.keys = {90, 91}, .positions = {}}, {.keys = {92, 93}, .positions = {}}});
  EXPECT_EQ(lists, (Lists{kHottest, {90, 91, 10, 11, 12}, {92, 93, 90, 91, 10}}));
}

TEST(HotLists, HotOutLosesTheHottestAndGetsOthersAtTheEnd) {
  const auto lists =
      hot_lists(Pattern::kHotOut, kHottest,
                {{.keys = {90, 91}, .positions = {}}, {.keys = {92, 93}, .positions = {}}});
  EXPECT_EQ(lists, (Lists{kHottest, {12, 13, 14, 90, 91}, {14, 90, 91, 92, 93}}));
}

TEST(HotLists, RandomPutsKeysInPlacesOfTheListBefore) {
  const auto lists =
      hot_lists(Pattern::kRandom, kHottest,
                {{.keys = {90, 91}, .positions = {4, 0}}, {.keys = {92}, .positions = {0}}});
  EXPECT_EQ(lists, (Lists{kHottest, {91, 11, 12, 13, 90}, {92, 11, 12, 13, 90}}));
}

TEST(HotLists, StableStays) {
  EXPECT_EQ(hot_lists(Pattern::kStable, kHottest, {{}, {}}), (Lists{kHottest, kHottest, kHottest}));
}

TEST(HotLists, AChangeMayTakeTheWholeList) {
  const Keys others = {90, 91, 92, 93, 94};
  for (const Pattern pattern : {Pattern::kHotIn, Pattern::kHotOut}) {
    EXPECT_EQ(hot_lists(pattern, kHottest, {{.keys = others, .positions = {}}}).at(1), others);
  }
}

TEST(HotLists, WhatDoesNotFitIsRefused) {
  const auto refused = [](Pattern pattern, const PopularityChange& change) {
    EXPECT_THROW(hot_lists(pattern, kHottest, {change}), CommandError) << pattern_name(pattern);
  };
  refused(Pattern::kHotIn, {.keys = Keys(6, 90), .positions = {}});
  refused(Pattern::kStable, {.keys = {90}, .positions = {}});
  refused(Pattern::kHotIn, {.keys = {90}, .positions = {0}});
  refused(Pattern::kRandom, {.keys = {90}, .positions = {}});
  refused(Pattern::kRandom, {.keys = {90}, .positions = {5}});
}

TEST(HotLists, PatternsHaveNames) {
  for (const Pattern pattern :
       {Pattern::kStable, Pattern::kHotIn, Pattern::kHotOut, Pattern::kRandom}) {
    EXPECT_EQ(pattern_from(pattern_name(pattern)), pattern);
  }
  EXPECT_THROW(pattern_from("hot"), CommandError);
}

}  // namespace
}  // namespace turntable::workload
