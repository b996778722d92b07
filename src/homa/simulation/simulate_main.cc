// homa-sim: a cell of the transport's own state machines on simulated links. Reads JSON, writes
// JSON. Input, all but sizes and load optional:
//
//   {"sizes": {"file" or "bytes", "cap", "divide"},
//    "load" (share of a client's link, headers and grants included) or "payload_gbps",
//    "transport": "homa" or "basic", "levels", "paper": "W3" (its cutoffs and degree),
//    "paper_degree", "degree", "cutoffs", "at_most_once", "payload_bytes", "rtt_bytes", "hosts",
//    "hosts_per_leaf", "spines", "gbps", "core_gbps", "link_delay_us", "switch_delay_us",
//    "buffer_bytes", "host_delay_us", "queue_ahead_us", "frame_overhead_bytes", "tick_us",
//    "arrivals": "exponential" or "periodic", "outstanding", "fan_out", "response_bytes",
//    "warmup_s", "measure_s", "drain_s", "seed", "packets": FILE (gets all that hosts send,
//    packet_trace.h), "idle_bytes": [...] (round trips on the idle network, for these sizes alone)}
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "common/command_error.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "common/standard_output.h"
#include "homa/priority_allocation.h"
#include "homa/simulation/simulation.h"
#include "homa/sizes_argument.h"
#include "node/arguments.h"

namespace turntable::homa::simulation {
namespace {

using Json = nlohmann::json;
using node::Arguments;

class Input {
 public:
  explicit Input(const Json& json)
      : json_(json),
        arguments_("input", json,
                   {"sizes",
                    "load",
                    "payload_gbps",
                    "transport",
                    "levels",
                    "paper",
                    "paper_degree",
                    "degree",
                    "cutoffs",
                    "at_most_once",
                    "payload_bytes",
                    "rtt_bytes",
                    "hosts",
                    "hosts_per_leaf",
                    "spines",
                    "gbps",
                    "core_gbps",
                    "link_delay_us",
                    "switch_delay_us",
                    "buffer_bytes",
                    "host_delay_us",
                    "queue_ahead_us",
                    "frame_overhead_bytes",
                    "tick_us",
                    "arrivals",
                    "outstanding",
                    "fan_out",
                    "response_bytes",
                    "warmup_s",
                    "measure_s",
                    "drain_s",
                    "seed",
                    "packets",
                    "idle_bytes"}) {}

  bool has(const char* name) const { return json_.contains(name); }

  template <typename Value>
  void number(const char* name, double least, double most, Value& value, double scale = 1) const {
    if (has(name)) value = static_cast<Value>(scale * arguments_.number(name, least, most));
  }
  std::string word(const char* name, const std::string& otherwise) const {
    return has(name) ? arguments_.text(name) : otherwise;
  }
  bool flag(const char* name) const { return json_.value(name, false); }
  const Json& json() const { return json_; }

 private:
  const Json& json_;
  Arguments arguments_;
};

MessageSizes sizes_of(const Input& input) {
  if (!input.has("sizes")) throw bad_argument("input: no \"sizes\"; expected {\"file\": …}");
  return sizes_argument("input, sizes", input.json().at("sizes"));
}

void read_transport(const Input& input, const MessageSizes& sizes, homa::Settings& transport) {
  input.number("payload_bytes", 64, 8900, transport.payload_bytes);
  transport.rtt_bytes = 7 * transport.payload_bytes;
  input.number("rtt_bytes", 1, 1 << 30, transport.rtt_bytes);
  input.number("levels", 1, 8, transport.levels);
  const std::string kind = input.word("transport", "homa");
  if (kind == "basic") {
    transport.levels = 1;
    transport.independent_grants = true;
  } else if (kind != "homa") {
    throw bad_argument("input: transport \"" + kind + "\"; expected homa or basic");
  }
  PriorityAllocation priorities = allocate_priorities(sizes, transport.rtt_bytes, transport.levels);
  if (input.has("paper")) {
    const PaperSettings paper = paper_settings(input.word("paper", ""), transport.levels);
    priorities = paper.priorities;
    transport.degree = paper.degree;
  }
  if (input.has("paper_degree"))
    transport.degree = paper_settings(input.word("paper_degree", ""), 1).degree;
  if (input.has("cutoffs")) {
    priorities.cutoffs = input.json().at("cutoffs").get<std::vector<std::uint32_t>>();
    priorities.unscheduled_levels = static_cast<std::uint32_t>(priorities.cutoffs.size()) + 1;
  }
  transport.unscheduled_levels = priorities.unscheduled_levels;
  transport.cutoffs = priorities.cutoffs;
  input.number("degree", 1, 1000, transport.degree);
  transport.at_most_once = input.flag("at_most_once");
}

void read_fabric(const Input& input, FabricSettings& fabric) {
  input.number("hosts", 2, 10000, fabric.hosts);
  input.number("hosts_per_leaf", 0, 10000, fabric.hosts_per_leaf);
  input.number("spines", 0, 1000, fabric.spines);
  input.number("gbps", 1e-6, 1e4, fabric.host_bits_per_s, 1e9);
  input.number("core_gbps", 1e-6, 1e4, fabric.core_bits_per_s, 1e9);
  input.number("link_delay_us", 0, 1e7, fabric.link_delay_us);
  input.number("switch_delay_us", 0, 1e7, fabric.switch_delay_us);
  input.number("buffer_bytes", 0, 4e9, fabric.buffer_bytes);
}

Settings settings_of(const Input& input, const MessageSizes& sizes) {
  Settings settings;
  read_transport(input, sizes, settings.transport);
  read_fabric(input, settings.fabric);
  input.number("host_delay_us", 0, 1e7, settings.host_delay_us);
  input.number("queue_ahead_us", 0, 1e7, settings.queue_ahead_us);
  input.number("frame_overhead_bytes", 0, 1000, settings.frame_overhead_bytes);
  input.number("tick_us", 1, 1e9, settings.tick_us);
  input.number("outstanding", 1, 1e6, settings.outstanding);
  input.number("fan_out", 1, 1e6, settings.fan_out);
  input.number("response_bytes", 0, 1 << 20, settings.response_bytes);
  input.number("warmup_s", 0, 1e5, settings.warmup_s);
  input.number("measure_s", 1e-6, 1e5, settings.measure_s);
  input.number("drain_s", 0, 1e5, settings.drain_s);
  input.number("seed", 0, 1e15, settings.seed);
  const std::string process = input.word("arrivals", "exponential");
  if (process != "exponential" && process != "periodic")
    throw bad_argument("input: arrivals \"" + process + "\"; expected exponential or periodic");
  if (process == "periodic") settings.process = Process::kPeriodic;
  input.number("payload_gbps", 1e-9, 1e4, settings.payload_bits_per_s, 1e9);
  double load = 0;
  input.number("load", 1e-6, 10, load);
  if (load > 0) settings.payload_bits_per_s = payload_at_load(settings, sizes, load);
  return settings;
}

Json percentiles_of(const Result& result) {
  Json percentiles = Json::array();
  for (const Percentile& percentile : result.percentiles)
    percentiles.push_back({{"rtt_ns", percentile.rtt_ns.encode()},
                           {"slowdown_1000", percentile.slowdown_1000.encode()}});
  return percentiles;
}

// Of messages from percentile `begin` to `end`.
Json group_of(const Result& result, std::size_t begin, std::size_t end) {
  Percentile group;
  for (std::size_t i = begin; i < end; ++i) {
    group.rtt_ns.merge(result.percentiles[i].rtt_ns);
    group.slowdown_1000.merge(result.percentiles[i].slowdown_1000);
  }
  const auto slowdown = [&](double percent) {
    return static_cast<double>(group.slowdown_1000.value_at_percentile(percent)) / 1000;
  };
  const auto rtt_us = [&](double percent) {
    return static_cast<double>(group.rtt_ns.value_at_percentile(percent)) / 1000;
  };
  return {{"samples", group.rtt_ns.count()},
          {"rtt_ns", group.rtt_ns.encode()},
          {"slowdown_1000", group.slowdown_1000.encode()},
          {"slowdown_p50", slowdown(50)},
          {"slowdown_p99", slowdown(99)},
          {"rtt_us_p50", rtt_us(50)},
          {"rtt_us_p99", rtt_us(99)}};
}

Json idle_rows(const Result& result) {
  Json rows = Json::array();
  for (const auto& [bytes, ns] : result.idle_ns) rows.push_back({bytes, ns});
  return rows;
}

Json deciles_of(const Result& result) {
  Json deciles = Json::array();
  for (std::size_t decile = 0; decile < 10; ++decile)
    deciles.push_back(group_of(result, 10 * decile, 10 * decile + 10));
  return deciles;
}

Json idle_of(const Settings& settings, const Json& sizes) {
  Json result = Json::object();
  for (const auto bytes : sizes.get<std::vector<std::uint32_t>>())
    result[std::to_string(bytes)] = idle_rtt_ns(settings, bytes, false) / 1000;
  return result;
}

std::ostream& open_packets(const Input& input, std::ofstream& file) {
  const std::string name = input.word("packets", "");
  file.open(name);
  if (!file)
    throw bad_argument("input: packets \"" + name + "\" cannot be written; expected a file");
  return file;
}

Json answer(const Json& json) {
  const Input input(json);
  const MessageSizes sizes = sizes_of(input);
  Settings settings = settings_of(input, sizes);
  if (input.has("idle_bytes")) return {{"idle_rtt_us", idle_of(settings, json.at("idle_bytes"))}};
  std::ofstream packets;
  if (input.has("packets")) settings.packets = &open_packets(input, packets);
  const std::clock_t begin = std::clock();
  const Result result = simulate(settings, sizes);
  const double cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (packets.is_open() && !packets.flush())
    throw std::runtime_error(input.word("packets", "") + ": not all packets could be written");
  const Statistics& transport = result.transport;
  return {{"payload_gbps", settings.payload_bits_per_s / 1e9},
          {"mean_bytes", sizes.mean()},
          {"rtt_bytes", settings.transport.rtt_bytes},
          {"unscheduled_levels", settings.transport.unscheduled_levels},
          {"cutoffs", settings.transport.cutoffs},
          {"degree", settings.transport.degree},
          {"offered", result.offered},
          {"answered", result.answered},
          {"aborted", result.aborted},
          {"delivered_gbps", result.delivered_bits_per_s / 1e9},
          {"offered_gbps", result.offered_bits_per_s / 1e9},
          {"unanswered_share", result.unanswered_share},
          {"resends", transport.resends_asked},
          {"packets_sent_again", transport.packets_sent_again},
          {"duplicate_packets", transport.duplicate_packets},
          {"drops", result.switches.dropped},
          {"max_queued_bytes", result.switches.max_queued_bytes},
          {"frames", result.frames},
          {"events", result.events},
          {"cpu_s", cpu_s},
          {"deciles", deciles_of(result)},
          {"idle_round_trips", idle_rows(result)},
          {"percentiles", percentiles_of(result)}};
}

int run(int argc, char** argv) {
  ProgramOptions options("homa-sim",
                         "Simulates a cell that standard input describes as JSON; answers JSON");
  bool brief = false;
  options.flag("--brief", brief, "Without the histograms of the percentiles");
  if (const auto status = options.parse(argc, argv)) return *status;
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const Json request = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object()) throw bad_argument("standard input is no JSON; expected one object");
  Json result = answer(request);
  if (brief) {
    for (const char* histograms : {"percentiles", "idle_round_trips"}) result.erase(histograms);
    for (Json& decile : result["deciles"])
      for (const char* histogram : {"rtt_ns", "slowdown_1000"}) decile.erase(histogram);
  }
  print_result(result.dump() + "\n");
  return 0;
}

}  // namespace
}  // namespace turntable::homa::simulation

int main(int argc, char** argv) {
  return turntable::run_main("homa-sim",
                             [&] { return turntable::homa::simulation::run(argc, argv); });
}
