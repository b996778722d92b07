#include "farreach/kv/popularity_plan.h"

#include "common/clock.h"
#include "common/command_error.h"
#include "workload/hottest.h"
#include "workload/popularity.h"

namespace turntable::kv {
namespace {

using Json = PopularityChanges::Json;

constexpr std::int64_t kMostPlaces = 1'000'000;

workload::PopularityChange change_of(const Json& given) {
  const Arguments fields("kvclient prepare, popularity, changes", given, {"keys", "positions"});
  workload::PopularityChange change;
  if (fields.array_or_empty("keys").empty()) return change;
  for (const std::int64_t key : fields.integers("keys", 0, INT64_MAX)) {
    change.keys.push_back(static_cast<workload::KeyId>(key));
  }
  if (!given.contains("positions")) return change;
  for (const std::int64_t position : fields.integers("positions", 0, kMostPlaces - 1)) {
    change.positions.push_back(static_cast<std::uint32_t>(position));
  }
  return change;
}

}  // namespace

std::vector<std::vector<workload::KeyId>> hot_lists_of(const Arguments& arguments,
                                                       const workload::Workload& workload) {
  const Json* given = arguments.object_or_null("popularity");
  if (given == nullptr) return {};
  const Arguments fields("kvclient prepare, popularity", *given,
                         {"pattern", "hot_list", "changes"});
  const workload::Pattern pattern = workload::pattern_from(fields.text("pattern"));
  const std::int64_t places = fields.integer("hot_list", 1, kMostPlaces);
  std::vector<workload::PopularityChange> changes;
  for (const Json& change : fields.array_or_empty("changes")) changes.push_back(change_of(change));
  return workload::hot_lists(
      pattern, workload::hottest_keys(workload, static_cast<std::uint64_t>(places)), changes);
}

Json PopularityChanges::begin(const Json& args, Replay* replay) {
  const Arguments arguments("kvclient popularity", args, {"period"});
  Popularity* popularity = replay == nullptr ? nullptr : replay->popularity();
  if (popularity == nullptr) {
    throw CommandError("wrong_state",
                       "kvclient popularity: hot keys do not change; expected a `prepare` with "
                       "\"popularity\" before");
  }
  const auto last = static_cast<std::int64_t>(popularity->periods()) - 1;
  const std::int64_t period = arguments.integer("period", 0, last);
  popularity->begin_period(static_cast<std::size_t>(period));
  begun_.push_back({{"period", period}, {"at_ns", realtime_ns()}});
  return begun_.back();
}

}  // namespace turntable::kv
