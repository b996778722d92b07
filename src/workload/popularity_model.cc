#include "workload/popularity_model.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "common/command_error.h"
#include "workload/hottest.h"
#include "workload/random.h"
#include "workload/recorded_trace.h"

namespace turntable::workload {
namespace {

using Keys = std::vector<KeyId>;

// No client has such a number (docs/workloads.md §4), so positions share no stream with traces.
constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 32;

Keys sorted(Keys keys) {
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

PopularityModel::PopularityModel(const Workload& workload, const PopularityPlan& plan,
                                 std::uint64_t cached)
    : workload_(workload),
      plan_(plan),
      cached_(cached),
      hottest_(hottest_keys(workload, plan.hot_list)),
      sorted_hottest_(sorted(hottest_)),
      requests_(kSlots) {
  if (cached > plan.hot_list) {
    throw bad_argument("hot list: " + std::to_string(plan.hot_list) + " keys; expected at least " +
                       std::to_string(cached) + ", those that are cached");
  }
  if (hottest_.size() == plan.hot_list) return;
  if (plan.pattern != Pattern::kStable) {
    throw bad_argument(
        "trace " + workload.recorded->file() + ": " + std::to_string(hottest_.size()) +
        " keys have values that always fit a switch; expected at least " +
        std::to_string(plan.hot_list) +
        ", those of the hot list: a longer trace, or a smaller hot_list, keys_changed and "
        "cache_size");
  }
  plan_.hot_list = hottest_.size();
}

void PopularityModel::add(const std::vector<Operation>& trace) {
  for (const Operation& operation : trace) {
    ++requests_[operation.slot];
    if (may_be_hot(operation.key)) asked_.push_back(operation.key);
  }
}

bool PopularityModel::may_be_hot(KeyId key) const {
  return !workload_.recorded || workload_.recorded->keys().at(key).fits_a_switch();
}

PopularityReport PopularityModel::finish() {
  std::sort(asked_.begin(), asked_.end());
  PopularityReport report{.plan = plan_, .changes = choose_changes(), .periods = {}};
  const auto lists = hot_lists(plan_.pattern, hottest_, report.changes);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    report.periods.push_back(period(lists[i], lists[i == 0 ? 0 : i - 1]));
  }
  return report;
}

std::vector<PopularityChange> PopularityModel::choose_changes() const {
  std::vector<PopularityChange> changes(plan_.changes);
  if (plan_.pattern == Pattern::kStable) return changes;
  const std::size_t all = plan_.changes * plan_.keys_changed;
  const Keys keys = plan_.pattern == Pattern::kHotOut ? next_hottest(all) : coldest(all);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto* group = keys.data() + i * plan_.keys_changed;
    changes[i].keys.assign(group, group + plan_.keys_changed);
    if (plan_.pattern == Pattern::kRandom) changes[i].positions = random_positions(i);
  }
  return changes;
}

// Of the keys that the traces ask for at all (servers have no others), those with the fewest
// requests; of these the smallest ids.
Keys PopularityModel::coldest(std::size_t count) const {
  std::vector<std::pair<std::size_t, KeyId>> ranked;  // by requests
  for (auto run = asked_.begin(); run != asked_.end();) {
    const auto end = std::find_if(run, asked_.end(), [&](KeyId key) { return key != *run; });
    if (!is_hot(*run)) ranked.emplace_back(end - run, *run);
    run = end;
  }
  if (ranked.size() < count) {
    throw bad_argument("popularity: the traces ask for " + std::to_string(ranked.size()) +
                       " keys beside the hot list; expected at least " + std::to_string(count) +
                       ", which take their places: more operations, or fewer keys_changed");
  }
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(ranked.begin(), end, ranked.end());
  Keys found;
  std::transform(ranked.begin(), end, std::back_inserter(found),
                 [](const auto& one) { return one.second; });
  return found;
}

// Of the keys that the traces ask for, the hottest ones behind the list.
Keys PopularityModel::next_hottest(std::size_t count) const {
  const std::uint64_t most = workload_.records - 1;  // of all records together, none is the hottest
  Keys found;
  for (std::uint64_t ranked = plan_.hot_list; found.size() < count && ranked < most;) {
    ranked = std::min<std::uint64_t>(most, 2 * (ranked + count));
    found = hottest_keys(workload_, ranked);
    const auto behind = std::min<std::size_t>(plan_.hot_list, found.size());
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(behind));
    std::erase_if(found, [this](KeyId key) { return requests_of(key) == 0; });
  }
  if (found.size() < count) {
    throw bad_argument("popularity: the traces ask for " + std::to_string(found.size()) +
                       " keys behind the hot list; expected at least " + std::to_string(count) +
                       ": more operations or records, or fewer keys_changed");
  }
  found.resize(count);
  return found;
}

std::vector<std::uint32_t> PopularityModel::random_positions(std::size_t change) const {
  Random random(stream_seed(workload_.seed, workload_.round, kFirstStream + change));
  std::vector<std::uint32_t> places(plan_.hot_list);
  std::iota(places.begin(), places.end(), 0U);
  for (std::size_t i = 0; i < plan_.keys_changed; ++i) {
    std::swap(places.at(i), places.at(i + random.next() % (places.size() - i)));
  }
  places.resize(plan_.keys_changed);
  return places;
}

PopularityPeriod PopularityModel::period(const Keys& list, const Keys& before) const {
  PopularityPeriod result{.requests = requests_,
                          .kept = std::vector<double>(kSlots),
                          .cached = std::vector<double>(kSlots)};
  const auto first = [this](const Keys& keys) {
    return sorted(Keys(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(cached_)));
  };
  const Keys now = first(list), then = first(before);
  const auto count = [&](KeyId key, double requests) {
    const auto add = [&](const Keys& keys, std::vector<double>& hits) {
      if (std::binary_search(keys.begin(), keys.end(), key)) hits[slot_of(key)] += requests;
    };
    add(then, result.kept);
    add(now, result.cached);
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    const double requests = requests_of(hottest_[i]);
    result.requests[slot_of(hottest_[i])] -= requests;
    result.requests[slot_of(list[i])] += requests;
    count(list[i], requests);
  }
  // Keys that have come into the list are still asked for by their own requests too.
  Keys others = now;
  others.insert(others.end(), then.begin(), then.end());
  others = sorted(std::move(others));
  others.erase(std::unique(others.begin(), others.end()), others.end());
  for (const KeyId key : others) {
    if (!is_hot(key)) count(key, requests_of(key));
  }
  return result;
}

double PopularityModel::requests_of(KeyId key) const {
  const auto [first, last] = std::equal_range(asked_.begin(), asked_.end(), key);
  return static_cast<double>(last - first);
}

bool PopularityModel::is_hot(KeyId key) const {
  return std::binary_search(sorted_hottest_.begin(), sorted_hottest_.end(), key);
}

}  // namespace turntable::workload
