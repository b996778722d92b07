#include "bench/packet_replay.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/program_options.h"
#include "common/run_main.h"
#include "common/standard_output.h"

namespace turntable::bench {
namespace {

int run(const char* program, const char* purpose, int argc, char** argv, const Forward& forward) {
  std::uint64_t hosts = 0;
  std::uint64_t hosts_per_leaf = 0;
  std::uint64_t spines = 0;
  double gbps = 10;
  double core_gbps = 40;
  double link_delay_us = 0.25;
  std::string file;
  ProgramOptions options(program, purpose);
  options.option("FILE", file, "Packets, as homa-sim writes them").required();
  options.option("--hosts", hosts, "Hosts").required().within(2, 10000);
  options.option("--hosts-per-leaf", hosts_per_leaf, "0: one switch").within(0, 10000);
  options.option("--spines", spines, "Spines").within(0, 1000);
  options.option("--gbps", gbps, "Of hosts' links").shows_default().within(1e-6, 1e4);
  options.option("--core-gbps", core_gbps, "Between switches").shows_default().within(1e-6, 1e4);
  options.option("--link-delay-us", link_delay_us, "Of each link").shows_default().within(0, 1e7);
  if (const auto status = options.parse(argc, argv)) return *status;
  const FabricSettings fabric{.hosts = static_cast<std::uint32_t>(hosts),
                              .hosts_per_leaf = static_cast<std::uint32_t>(hosts_per_leaf),
                              .spines = static_cast<std::uint32_t>(spines),
                              .host_bits_per_s = gbps * 1e9,
                              .core_bits_per_s = core_gbps * 1e9,
                              .link_delay_us = link_delay_us,
                              .switch_delay_us = 0};
  const auto packets = homa::simulation::read_packet_trace(file, fabric.hosts);
  Delays delays;
  const std::clock_t begin = std::clock();
  forward(fabric, packets, delays);
  const double cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  print_result(delays.json(packets.size(), cpu_s) + "\n");
  return 0;
}

}  // namespace

std::string Delays::json(std::size_t packets, double cpu_s) {
  nlohmann::json rows = nlohmann::json::array();
  std::size_t delivered = 0;
  for (std::size_t priority = 0; priority < kQueues; ++priority) {
    std::vector<std::int64_t>& ps = ps_[priority];
    if (ps.empty()) continue;
    std::ranges::sort(ps);
    const double sum = std::accumulate(ps.begin(), ps.end(), 0.0);
    rows.push_back({{"priority", priority},
                    {"packets", ps.size()},
                    {"mean_ns", sum / static_cast<double>(ps.size()) / 1000},
                    {"p99_ns", static_cast<double>(ps[ps.size() * 99 / 100]) / 1000}});
    delivered += ps.size();
  }
  const nlohmann::json result{
      {"packets", packets}, {"delivered", delivered}, {"cpu_s", cpu_s}, {"delays", rows}};
  return result.dump();
}

int replay(const char* program, const char* purpose, int argc, char** argv,
           const Forward& forward) {
  return run_main(program, [&] { return run(program, purpose, argc, argv, forward); });
}

}  // namespace turntable::bench
