// Queueing simulation of the methods.
//
// Choices, service times and jitter are the draws that clients and servers make (netclone/draws.h),
// so with the clients' arrivals replay() answers what an ideal run of the very same requests gives:
// no lateness of clients, servers or switch. predict() is the value in the long run: percentiles of
// 100,000 requests scatter by 6 to 24 % near saturation.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "load/arrivals.h"
#include "netclone/simulation/arrivals.h"
#include "netclone/simulation/result.h"
#include "netclone/simulation/settings.h"

namespace turntable::netclone::simulation {

// over_ns: latencies of which the requests above are counted. Instants and window have one origin.
Result replay(const Settings& settings, std::span<const Client> clients, const Window& window,
              std::span<const std::int64_t> over_ns);

struct Load {
  std::uint16_t clients;
  load::Arrivals gaps;        // of each client
  double requests = 0;        // expected in the window
  double warmup_share = 0.1;  // of the requests in the window, before them
};

// Requests come until the window's end, and all are answered.
Result predict(const Settings& settings, const Load& load, std::span<const std::int64_t> over_ns);

}  // namespace turntable::netclone::simulation
