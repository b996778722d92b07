// Which keys change, and what that does to the servers: counted by hand on short traces.
#include "workload/popularity_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "common/command_error.h"
#include "workload/hottest.h"

namespace turntable::workload {
namespace {

Workload small_workload() {
  return workload_from_json({{"name", "synthetic"}, {"records", 100}, {"clients", 1}});
}

// As many requests for each key as asked for.
std::vector<Operation> trace_of(const std::vector<KeyId>& keys,
                                const std::vector<unsigned>& requests) {
  std::vector<Operation> trace;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (unsigned k = 0; k < requests[i]; ++k) {
      trace.push_back({keys[i], slot_of(keys[i]), OperationType::kPut});
    }
  }
  return trace;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

class PopularityModelTest : public ::testing::Test {
 protected:
  // Three hot keys, of which two are cached. Asked for: 50, 30, 20, then 9, 1, none, 4, 1, 2.
  PopularityReport report(Pattern pattern, std::uint64_t changed, std::uint64_t changes) {
    PopularityModel model(
        workload_, {.pattern = pattern, .hot_list = 3, .keys_changed = changed, .changes = changes},
        2);
    model.add(trace_of(keys_, {50, 30, 20, 9}));
    model.add(trace_of({keys_.begin() + 4, keys_.end()}, {1, 0, 4, 1, 2}));
    return model.finish();
  }

  const Workload workload_ = small_workload();
  const std::vector<KeyId> keys_ = hottest_keys(workload_, 50);
};

TEST_F(PopularityModelTest, ColdKeysAreAskedForLeastAndInTheStores) {
  const auto changes = report(Pattern::kHotIn, 2, 2).changes;
  ASSERT_EQ(changes.size(), 2u);
  // Once: the fifth and eighth. Then the ninth, twice; then the seventh. Never the sixth.
  EXPECT_EQ(changes[0].keys,
            (std::vector{std::min(keys_[4], keys_[7]), std::max(keys_[4], keys_[7])}));
  EXPECT_EQ(changes[1].keys, (std::vector{keys_[8], keys_[6]}));
}

TEST_F(PopularityModelTest, NextHottestKeysFollowTheListAndAreInTheStores) {
  const auto changes = report(Pattern::kHotOut, 1, 3).changes;
  EXPECT_EQ(changes[0].keys, std::vector{keys_[3]});
  EXPECT_EQ(changes[1].keys, std::vector{keys_[4]});
  EXPECT_EQ(changes[2].keys, std::vector{keys_[6]});  // nobody asks for the sixth
}

TEST_F(PopularityModelTest, RandomPlacesAreDistinctAndOfTheList) {
  const auto changes = report(Pattern::kRandom, 2, 2).changes;
  for (const PopularityChange& change : changes) {
    const std::set<std::uint32_t> places(change.positions.begin(), change.positions.end());
    EXPECT_EQ(places.size(), 2u);
    EXPECT_LT(*places.rbegin(), 3u);
  }
  EXPECT_EQ(report(Pattern::kRandom, 2, 2).changes[1].positions, changes[1].positions);
}

TEST_F(PopularityModelTest, RequestsMoveWithTheirPlacesAndHitsWithTheCache) {
  const auto periods = report(Pattern::kHotIn, 1, 1).periods;
  ASSERT_EQ(periods.size(), 2u);
  EXPECT_EQ(sum(periods[0].requests), 117);
  EXPECT_EQ(sum(periods[0].cached), 80);
  EXPECT_EQ(sum(periods[0].kept), 80);
  // List: cold, first, second. The cold key has the 50 and its own one, the first now has the 30.
  const KeyId cold = std::min(keys_[4], keys_[7]);
  EXPECT_EQ(sum(periods[1].requests), 117);
  EXPECT_EQ(periods[1].requests[slot_of(cold)], 51);
  EXPECT_EQ(periods[1].requests[slot_of(keys_[0])], 30);
  EXPECT_EQ(periods[1].requests[slot_of(keys_[1])], 20);
  EXPECT_EQ(periods[1].requests[slot_of(keys_[2])], 0);
  EXPECT_EQ(sum(periods[1].kept), 30 + 20);
  EXPECT_EQ(sum(periods[1].cached), 51 + 30);
}

TEST_F(PopularityModelTest, NothingMovesWhereNothingChanges) {
  for (const PopularityPeriod& period : report(Pattern::kStable, 1, 2).periods) {
    EXPECT_EQ(sum(period.requests), 117);
    EXPECT_EQ(sum(period.kept), 80);
    EXPECT_EQ(sum(period.cached), 80);
  }
}

TEST_F(PopularityModelTest, TooFewKeysAreRefused) {
  EXPECT_THROW(report(Pattern::kHotIn, 3, 2), CommandError);  // five others are asked for
  EXPECT_THROW(report(Pattern::kHotOut, 3, 2), CommandError);
  EXPECT_THROW(PopularityModel(workload_, {.hot_list = 3}, 4), CommandError);
}

}  // namespace
}  // namespace turntable::workload
