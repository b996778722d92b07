// netclone-simulate: what a cell gives in the long run, by simulation. Reads JSON, writes JSON:
//
//   {"method", "servers", "clients", "load" or "rate_per_s", "arrivals": {...}, "seed",
//    "requests", "warmup_share", "work": {...}, "path": {"round_trip_us", "recirculation_us"},
//    "over_us": [...]}
//
// load: share of the workers' capacity; rate_per_s: of all clients. Rate and path are those of real
// time, over_us and the answer's "undilated_us" are undilated. work: simulation/settings.h.
#include <array>
#include <cmath>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "common/program_options.h"
#include "common/run_main.h"
#include "common/standard_output.h"
#include "netclone/simulation/simulation.h"
#include "node/arguments.h"

namespace turntable::netclone::simulation {
namespace {

using Json = nlohmann::json;
using node::Arguments;

constexpr double kMostRequests = 1e9;
constexpr double kMaxPathUs = 1e7;
constexpr const char* kWhere = "input";

double rate_of(const Arguments& input, const Json& json, const Settings& settings) {
  if (json.contains("load") == json.contains("rate_per_s")) {
    throw std::invalid_argument(std::string(kWhere) +
                                ": expected one of \"load\" and \"rate_per_s\"");
  }
  return json.contains("load") ? input.number("load", 1e-6, 100) * settings.capacity_per_s()
                               : input.number("rate_per_s", 1e-3, 1e9);
}

load::Arrivals gaps_of(const Arguments& input, double rate_per_s) {
  load::Arrivals::Settings settings{.rate_per_s = rate_per_s};
  const Json* json = input.object_or_null("arrivals");
  if (json == nullptr) return load::Arrivals(settings);
  const Arguments arrivals(std::string(kWhere) + ", arrivals", *json, {"process", "dilation"});
  settings.process = load::process_of(arrivals.text("process"));
  if (settings.process == load::Process::kTrace) {
    arrivals.fail("process", "trace", "a process that needs no file; replays take traces");
  }
  if (json->contains("dilation")) settings.dilation = arrivals.number("dilation", 1e-3, 1e6);
  return load::Arrivals(settings);
}

Delays path_of(const Arguments& input, std::uint32_t servers) {
  const Json* json = input.object_or_null("path");
  if (json == nullptr) return delays_of_round_trips(std::vector<std::int64_t>(servers));
  const Arguments path(std::string(kWhere) + ", path", *json,
                       {"round_trip_us", "recirculation_us"});
  const auto ns = [&](const char* name) {
    return std::llround(1000 * path.number(name, 0, kMaxPathUs));
  };
  const std::vector<std::int64_t> round_trips(servers, ns("round_trip_us"));
  return delays_of_round_trips(round_trips,
                               json->contains("recirculation_us") ? ns("recirculation_us") : 0);
}

std::vector<std::int64_t> over_of(const Arguments& input, const Json& json, double dilation) {
  std::vector<std::int64_t> over;
  if (!json.contains("over_us")) return over;
  const Json& thresholds = input.array_or_empty("over_us");
  for (const Json& us : thresholds) {
    if (!us.is_number() || us < 0) input.fail("over_us", thresholds, "an array of microseconds");
    over.push_back(std::llround(us.get<double>() * 1000 * dilation));
  }
  return over;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

Json undilated(const stats::Histogram& latency, double dilation) {
  const auto us = [&](double ns) { return ns / (1000 * dilation); };
  Json json = {{"mean", us(share(latency.sum(), latency.count()))}};
  constexpr std::array<std::pair<const char*, double>, 4> kPercentiles = {
      {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p999", 99.9}}};
  for (const auto& [name, percent] : kPercentiles)
    json[name] = us(static_cast<double>(latency.value_at_percentile(percent)));
  return json;
}

// Shares of which there is no whole are null.
Json simulated(const Settings& settings, const Load& load, const std::vector<std::int64_t>& over) {
  const Result result = predict(settings, load, over);
  Json json = raw_result(result);
  json["rate_per_s"] = load.clients * load.gaps.mean_rate_per_s();
  json["capacity_per_s"] = settings.capacity_per_s();
  json["undilated_us"] = undilated(result.latency_ns, settings.dilation);
  json["delivered_share"] = share(result.delivered, result.offered);
  json["clone_rate"] = share(result.cloned, result.offered);
  json["clones_dropped_share"] = share(result.clones_dropped, result.cloned);
  for (std::size_t i = 0; i < result.over.size(); ++i)
    json["over"][i]["share"] = share(result.over[i].count, result.latency_ns.count());
  return json;
}

Json answer(const Json& json) {
  if (!json.is_object()) throw std::invalid_argument("input: expected a JSON object");
  const Arguments input(kWhere, json,
                        {"method", "servers", "clients", "load", "rate_per_s", "arrivals", "seed",
                         "requests", "warmup_share", "work", "path", "over_us"});
  const Method method = method_from_name(kWhere, input.text("method"));
  const std::int64_t least = method == Method::kNoClone || method == Method::kLaedge ? 1 : 2;
  const auto servers = static_cast<std::uint32_t>(input.integer("servers", least, kMaxServers));
  const auto seed = static_cast<std::uint64_t>(input.integer("seed", 0, INT64_MAX));
  Settings settings = settings_from_json(kWhere, method, servers, seed, input.object("work"));
  settings.delays = path_of(input, servers);
  const auto clients = static_cast<std::uint16_t>(input.integer("clients", 1, UINT16_MAX));
  const load::Arrivals gaps = gaps_of(input, rate_of(input, json, settings) / clients);
  const Load load{
      .clients = clients,
      .gaps = gaps,
      .requests = input.number("requests", 100, kMostRequests),
      .warmup_share = json.contains("warmup_share") ? input.number("warmup_share", 0, 10) : 0.1};
  return simulated(settings, load, over_of(input, json, settings.dilation));
}

int run(int argc, char** argv) {
  ProgramOptions app("netclone-simulate",
                     "Simulates a cell that standard input describes as JSON; answers JSON");
  if (const auto status = app.parse(argc, argv)) return *status;
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const Json request = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (request.is_discarded()) {
    throw std::invalid_argument("standard input is no JSON; expected one object");
  }
  print_result(answer(request).dump() + "\n");
  return 0;
}

}  // namespace
}  // namespace turntable::netclone::simulation

int main(int argc, char** argv) {
  return turntable::run_main("netclone-simulate",
                             [&] { return turntable::netclone::simulation::run(argc, argv); });
}
