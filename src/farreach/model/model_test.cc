// The models' searches: the rules leave no hole, and each rule closes one.
#include <gtest/gtest.h>

#include "farreach/model/searches.h"

namespace turntable::model {

// Instead of the bytes of its members, whose addresses differ from build to build.
// NOLINTNEXTLINE(readability-identifier-naming): the name is what GoogleTest asks for
void PrintTo(const NamedSearch& search, std::ostream* out) {
  *out << search.name;
}

namespace {

constexpr std::uint64_t kMaxStates = 20'000'000;

std::vector<NamedSearch> small_searches() {
  std::vector<NamedSearch> small = all_searches();
  std::erase_if(small, [](const NamedSearch& search) { return search.is_large; });
  return small;
}

class ModelSearch : public testing::TestWithParam<NamedSearch> {};

TEST_P(ModelSearch, FindsWhatItMust) {
  const SearchResult result = GetParam().run(kMaxStates);
  std::string story = result.violation + "\n";
  for (const std::string& step : result.trace) story += "  " + step + "\n";
  RecordProperty("states", std::to_string(result.states));
  if (GetParam().must_find) {
    EXPECT_FALSE(result.violation.empty()) << "after " << result.states << " states";
    EXPECT_FALSE(result.trace.empty());
  } else {
    EXPECT_EQ(result.violation, "") << story;
    EXPECT_TRUE(result.is_whole) << "more than " << kMaxStates << " states";
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelSearch, testing::ValuesIn(small_searches()),
                         [](const auto& search) { return search.param.name; });

TEST(NamedSearch, IsShownByItsName) {
  EXPECT_EQ(testing::PrintToString(NamedSearch{.name = "farreach_cuts", .run = {}}),
            "farreach_cuts");
}

// A counter that may be raised by 1 or 2: states, depth and trace are known.
struct Counter {
  using State = std::uint8_t;
  using Step = std::uint8_t;
  std::uint8_t forbidden;

  State initial() const { return 0; }
  template <typename Visit>
  void successors(State state, Visit&& visit) const {
    for (Step by = 1; by <= 2; ++by) {
      if (state + by <= 9) visit(by, static_cast<State>(state + by));
    }
  }
  State canonical(State state) const { return state; }
  const char* violation(State state) const { return state == forbidden ? "forbidden" : nullptr; }
  std::string text(State, Step by, State) const { return std::to_string(by); }
};

TEST(Search, VisitsEveryStateOnce) {
  const SearchResult result = Search<Counter>({.forbidden = 10}).run(100);
  EXPECT_TRUE(result.is_whole);
  EXPECT_EQ(result.states, 10U);
  EXPECT_EQ(result.steps, 17U);
  EXPECT_EQ(result.depth, 5U);
  EXPECT_TRUE(result.violation.empty());
}

TEST(Search, ItsTraceIsAShortestOne) {
  const SearchResult result = Search<Counter>({.forbidden = 8}).run(100);
  EXPECT_EQ(result.violation, "forbidden");
  EXPECT_EQ(result.trace, (std::vector<std::string>{"2", "2", "2", "2"}));
}

TEST(Search, SaysWhenItIsNotWhole) {
  const SearchResult result = Search<Counter>({.forbidden = 10}).run(4);
  EXPECT_FALSE(result.is_whole);
}

}  // namespace
}  // namespace turntable::model
