// What is simulated. All times are real nanoseconds: service times are dilated as the nodes' are.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "netclone/distribution.h"
#include "netclone/method.h"
#include "netclone/mix.h"

namespace turntable::netclone::simulation {

// One-way delays of a star: in its middle the switch, or LAEDGE's coordinator.
struct Delays {
  std::int64_t client_ns = 0;           // between a client and the middle
  std::vector<std::int64_t> server_ns;  // between the middle and each server
  std::int64_t recirculation_ns = 0;    // what a clone takes longer through the switch
};

// From idle round trips, client to client through each server: a quarter for each of the ways.
Delays delays_of_round_trips(std::span<const std::int64_t> round_trip_ns,
                             std::int64_t recirculation_ns = 0);

struct Settings {
  Method method = Method::kNoClone;
  std::vector<std::uint32_t> workers;  // of each server
  ServiceTimes service;
  OperationMix mix;
  double dilation = 1;
  std::uint64_t seed = 0;
  bool drop_clones = true;  // servers drop clones while others wait; only where the switch clones
  bool filter = true;       // the switch drops the slower of two answers
  LaedgeMode laedge = LaedgeMode::kSlots;
  Delays delays;

  std::uint32_t servers() const noexcept { return static_cast<std::uint32_t>(workers.size()); }
  double mean_service_us() const noexcept { return service.mean_us(mix.scan_share()); }
  // Requests per second that the workers can do if none is cloned.
  double capacity_per_s() const noexcept;
};

// `work`: {"service", "jitter", "dilation", "workers", "drop_clones", "filter", "laedge", "mix"};
// workers is a number or an array of one for each server; only the first four must be there.
// drop_clones is true by default where the switch clones. Throws
// CommandError bad_argument. The delays are those of delays_of_round_trips() with zeros.
Settings settings_from_json(const std::string& where, Method method, std::uint32_t servers,
                            std::uint64_t seed, const nlohmann::json& work);

}  // namespace turntable::netclone::simulation
