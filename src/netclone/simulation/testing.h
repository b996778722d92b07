// Cells of tests: few words for the settings that they share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "netclone/simulation/simulation.h"

namespace turntable::netclone::simulation {

struct Cell {
  Method method;
  std::uint32_t servers;
  std::uint32_t workers;
  double load;  // share of the capacity
  const char* service = "exp25";
  double jitter = 0.01;
  double requests = 200'000;
  std::uint64_t seed = 1;
  nlohmann::json more = {};  // of the "work"
};

inline Settings settings_of(const Cell& cell) {
  nlohmann::json work = {{"service", {{"distribution", cell.service}}},
                         {"jitter", {{"probability", cell.jitter}, {"factor", 15}}},
                         {"dilation", 1},
                         {"workers", cell.workers}};
  if (!cell.more.is_null()) work.update(cell.more);
  Settings settings = settings_from_json("test", cell.method, cell.servers, cell.seed, work);
  // A one-way path of 2 us: what the reference's table was computed with.
  settings.delays = delays_of_round_trips(std::vector<std::int64_t>(cell.servers, 4000));
  return settings;
}

inline load::Arrivals gaps_of(const Settings& settings, double share, std::uint16_t clients) {
  return load::Arrivals({.rate_per_s = share * settings.capacity_per_s() / clients});
}

inline Result result_of(const Cell& cell, const Settings& settings) {
  constexpr std::uint16_t kClients = 4;
  return predict(settings,
                 {.clients = kClients,
                  .gaps = gaps_of(settings, cell.load, kClients),
                  .requests = cell.requests},
                 {});
}

inline Result result_of(const Cell& cell) {
  return result_of(cell, settings_of(cell));
}

inline double percentile_us(const Result& result, double percent) {
  return static_cast<double>(result.latency_ns.value_at_percentile(percent)) / 1000;
}

inline double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

inline double delivered_share(const Result& result) {
  return share(result.delivered, result.offered);
}

}  // namespace turntable::netclone::simulation
