#include "netclone/simulation/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "node/arguments.h"

namespace turntable::netclone::simulation {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMaxWorkers = 1024;
constexpr double kMaxDilation = 1e5;

std::vector<std::uint32_t> workers_of(const node::Arguments& fields, const Json& work,
                                      std::uint32_t servers) {
  if (!work.contains("workers") || !work["workers"].is_array()) {
    return std::vector(servers,
                       static_cast<std::uint32_t>(fields.integer("workers", 1, kMaxWorkers)));
  }
  const Json& json = work["workers"];
  const auto is_count = [](const Json& each) {
    return each.is_number_integer() && each >= 1 && each <= kMaxWorkers;
  };
  if (json.size() != servers || !std::all_of(json.begin(), json.end(), is_count)) {
    fields.fail("workers", json,
                "a number from 1 to " + std::to_string(kMaxWorkers) + ", or an array of " +
                    std::to_string(servers) + " of them, one for each server");
  }
  return json.get<std::vector<std::uint32_t>>();
}

// Requests must ask for GET and SCAN exactly where each has a distribution of its own.
void check_operations(const node::Arguments& fields, const Json& work, const Settings& settings) {
  if (settings.service.by_operation() == settings.mix.stores()) return;
  fields.fail("service", work["service"],
              settings.mix.stores() ? "a distribution for each of GET and SCAN, as \"mix\" has them"
                                    : "one distribution: there is no \"mix\" of GET and SCAN");
}

}  // namespace

Delays delays_of_round_trips(std::span<const std::int64_t> round_trip_ns,
                             std::int64_t recirculation_ns) {
  Delays delays;
  delays.recirculation_ns = recirculation_ns;
  if (round_trip_ns.empty()) return delays;
  const std::int64_t sum = std::accumulate(round_trip_ns.begin(), round_trip_ns.end(), 0L);
  const std::int64_t least = *std::min_element(round_trip_ns.begin(), round_trip_ns.end());
  // Clients have one delay, so what servers differ by is theirs.
  delays.client_ns = std::min(sum / static_cast<std::int64_t>(4 * round_trip_ns.size()), least / 2);
  for (const std::int64_t each : round_trip_ns)
    delays.server_ns.push_back(each / 2 - delays.client_ns);
  return delays;
}

double Settings::capacity_per_s() const noexcept {
  const auto all = std::accumulate(workers.begin(), workers.end(), 0.0);
  return all / (mean_service_us() * dilation * 1e-6);
}

Settings settings_from_json(const std::string& where, Method method, std::uint32_t servers,
                            std::uint64_t seed, const Json& work) {
  const std::string what = where + ", work";
  const node::Arguments fields(
      what, work,
      {"service", "jitter", "dilation", "workers", "drop_clones", "filter", "laedge", "mix"});
  Settings settings{
      .method = method,
      .workers = workers_of(fields, work, servers),
      .service = ServiceTimes::from_json(what, fields.object("service"), fields.object("jitter")),
      .mix = OperationMix::from_json(what, work.value("mix", Json())),
      .dilation = fields.number("dilation", 1e-3, kMaxDilation),
      .seed = seed,
      .drop_clones =
          !work.contains("drop_clones") ? clones_in_switch(method) : fields.boolean("drop_clones"),
      .filter = !work.contains("filter") || fields.boolean("filter"),
      .laedge = work.contains("laedge") ? laedge_mode_from_name(what, fields.text("laedge"))
                                        : LaedgeMode::kSlots,
      .delays = {.server_ns = std::vector<std::int64_t>(servers)}};
  check_operations(fields, work, settings);
  return settings;
}

}  // namespace turntable::netclone::simulation
