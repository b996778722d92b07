#include "netclone/client/replay.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/command_error.h"
#include "netclone/simulation/simulation.h"

namespace turntable::netclone {
namespace {

// As idle probes found it. A credit of LAEDGE's is lacking for as long as it is under way, which
// near saturation is load: so it takes what it took in the window.
simulation::Delays delays_of(const PathDelay& path, const CreditDelays& credit_delays,
                             std::uint32_t servers) {
  simulation::Delays delays = simulation::delays_of_round_trips(path.by_server_ns);
  delays.server_ns.resize(servers);  // without probes there are none
  const auto means = credit_delays.means_ns();
  for (std::size_t i = 0; i < means.size(); ++i)
    if (means[i]) delays.server_ns[i] = std::max<std::int64_t>(0, *means[i] / 2);
  return delays;
}

}  // namespace

nlohmann::json replay_iteration(const std::string& where, const Plan& plan,
                                const load::Schedule& schedule, const PathDelay& path,
                                const CreditDelays& credit_delays) {
  if (!plan.work) {
    throw bad_argument(where +
                       R"(: `prepare` was not told the servers' "work"; expected {"service", )"
                       R"("jitter", "dilation", "workers", ...})");
  }
  simulation::Settings settings = *plan.work;
  settings.delays = delays_of(path, credit_delays, settings.servers());

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
