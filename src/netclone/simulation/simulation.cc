#include "netclone/simulation/simulation.h"

#include <cmath>

#include "netclone/simulation/engine.h"

namespace turntable::netclone::simulation {
namespace {

Result run(const Settings& settings, Arrivals& arrivals, const Window& window,
           std::span<const std::int64_t> over_ns) {
  Result result;
  for (const std::int64_t ns : over_ns) result.over.push_back({ns});
  Engine(settings, window, result).run(arrivals);
  return result;
}

}  // namespace

Result replay(const Settings& settings, std::span<const Client> clients, const Window& window,
              std::span<const std::int64_t> over_ns) {
  ReplayedArrivals arrivals(clients);
  return run(settings, arrivals, window, over_ns);
}

Result predict(const Settings& settings, const Load& load, std::span<const std::int64_t> over_ns) {
  const double window_ns = 1e9 * load.requests / (load.clients * load.gaps.mean_rate_per_s());
  const Window window{.from_ns = std::llround(load.warmup_share * window_ns),
                      .until_ns = std::llround((1 + load.warmup_share) * window_ns)};
  DrawnArrivals arrivals(settings.seed, load.clients, load.gaps, window.until_ns);
  return run(settings, arrivals, window, over_ns);
}

}  // namespace turntable::netclone::simulation
