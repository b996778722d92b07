#include "netclone/client/replay.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "common/command_error.h"
#include "netclone/simulation/simulation.h"

namespace turntable::netclone {

nlohmann::json replay_iteration(const std::string& where, const Plan& plan,
                                const load::Schedule& schedule, const PathDelay& path) {
  if (plan.work.empty()) {
    throw bad_argument(where +
                       R"(: `prepare` was not told the servers' "work"; expected {"service", )"
                       R"("jitter", "dilation", "workers", ...})");
  }
  simulation::Settings settings =
      simulation::settings_from_json(where, plan.traffic.method, plan.traffic.server_count(),
                                     plan.traffic.seed, nlohmann::json::parse(plan.work));
  settings.mix = plan.traffic.mix;
  if (!path.by_server_ns.empty())
    settings.delays = simulation::delays_of_round_trips(path.by_server_ns);

  const std::int64_t origin = schedule.start_ns;
  const simulation::Window window{.from_ns = schedule.window_from_ns - origin,
                                  .until_ns = schedule.window_until_ns - origin,
                                  .drain_until_ns = schedule.drain_until_ns - origin};
  std::vector<simulation::Client> clients;
  for (std::uint16_t client = 0; client < plan.clients_total; ++client) {
    clients.push_back({.index = client,
                       .instants = load::instants(plan.gap(client), 0, window.until_ns,
                                                  load::OpenLoop::kMaxRequests)});
  }
  return simulation::raw_result(simulation::replay(settings, clients, window, plan.loop.over_ns));
}

}  // namespace turntable::netclone
