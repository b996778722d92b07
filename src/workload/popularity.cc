#include "workload/popularity.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/command_error.h"

namespace turntable::workload {
namespace {

using Keys = std::vector<KeyId>;
using Difference = Keys::difference_type;

constexpr std::array<std::pair<const char*, Pattern>, 4> kNames = {{{"stable", Pattern::kStable},
                                                                    {"hotin", Pattern::kHotIn},
                                                                    {"hotout", Pattern::kHotOut},
                                                                    {"random", Pattern::kRandom}}};

void check(Pattern pattern, const Keys& list, const PopularityChange& change) {
  const auto fail = [&](const std::string& what, std::size_t found, const std::string& expected) {
    throw bad_argument(std::string("popularity, ") + pattern_name(pattern) + ": " + what + " " +
                       std::to_string(found) + "; expected " + expected);
  };
  const std::size_t most = pattern == Pattern::kStable ? 0 : list.size();
  if (change.keys.size() > most) {
    fail("keys of a change:", change.keys.size(), "at most " + std::to_string(most));
  }
  const std::size_t positions = pattern == Pattern::kRandom ? change.keys.size() : 0;
  if (change.positions.size() != positions) {
    fail("positions of a change:", change.positions.size(), std::to_string(positions));
  }
  for (const std::uint32_t position : change.positions) {
    if (position >= list.size()) {
      fail("a position:", position, "one of the list, below " + std::to_string(list.size()));
    }
  }
}

Keys changed(Pattern pattern, Keys list, const PopularityChange& change) {
  check(pattern, list, change);
  const auto count = static_cast<Difference>(change.keys.size());
  switch (pattern) {
    case Pattern::kHotIn:
      std::shift_right(list.begin(), list.end(), count);
      std::copy(change.keys.begin(), change.keys.end(), list.begin());
      break;
    case Pattern::kHotOut:
      std::shift_left(list.begin(), list.end(), count);
      std::copy(change.keys.begin(), change.keys.end(), list.end() - count);
      break;
    case Pattern::kRandom:
      for (std::size_t i = 0; i < change.keys.size(); ++i) {
        list[change.positions[i]] = change.keys[i];
      }
      break;
    case Pattern::kStable:
      break;
  }
  return list;
}

}  // namespace

Pattern pattern_from(const std::string& name) {
  const auto* found = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const auto& one) { return name == one.first; });
  if (found != kNames.end()) return found->second;
  throw bad_argument("popularity: pattern '" + name +
                     "'; expected stable, hotin, hotout or random");
}

const char* pattern_name(Pattern pattern) {
  return kNames[static_cast<std::size_t>(pattern)].first;
}

std::vector<Keys> hot_lists(Pattern pattern, Keys hottest,
                            const std::vector<PopularityChange>& changes) {
  std::vector<Keys> lists = {std::move(hottest)};
  for (const PopularityChange& change : changes) {
    lists.push_back(changed(pattern, lists.back(), change));
  }
  return lists;
}

}  // namespace turntable::workload
