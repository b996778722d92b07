#include "netclone/client/plan.h"

#include <arpa/inet.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "common/command_error.h"
#include "net/udp.h"
#include "netclone/draws.h"
#include "netclone/packet.h"
#include "node/arguments.h"

namespace turntable::netclone {
namespace {

using Json = Plan::Json;
using node::Arguments;

constexpr std::int64_t kMaxObjects = UINT32_MAX;
constexpr std::int64_t kDayMs = 86'400'000;
// Timers fire 20 to 30 us late on a processor of a virtual machine. A client that wakes so much
// earlier, but not more than this share of its time, costs little.
constexpr double kWakeEarlyUs = 40;
constexpr double kWakeEarlyShare = 0.05;
// Who spins longer would let nobody else run with the priority of real time.
constexpr std::int64_t kBriefSpinNs = 100'000;

sockaddr_in address_of(const std::string& where, const Json& json) {
  const Arguments fields(where, json, {"address", "port"});
  const auto port = static_cast<std::uint16_t>(fields.integer("port", 1, 65535));
  return net::parse_ipv4(where + ": \"address\"", fields.text("address"), port);
}

void parse_servers(const std::string& where, const Arguments& arguments, Traffic& traffic) {
  std::set<std::pair<std::uint32_t, std::uint16_t>> known;
  for (const Json& server : arguments.array("servers")) {
    const std::string what = where + ", servers[" + std::to_string(traffic.servers.size()) + "]";
    if (!server.is_object()) arguments.fail("servers", server, R"(objects {"address", "port"})");
    const sockaddr_in address = address_of(what, server);
    if (!known.insert({address.sin_addr.s_addr, address.sin_port}).second)
      arguments.fail("servers", server, "each server's address and port only once");
    traffic.servers.push_back(address);
  }
  const std::size_t least = traffic.method == Method::kNoClone ? 1 : 2;
  if (traffic.servers.size() < least || traffic.servers.size() > kMaxServers) {
    arguments.fail("servers", traffic.servers.size(),
                   std::to_string(least) + " to " + std::to_string(kMaxServers) + " servers for " +
                       method_name(traffic.method));
  }
}

void parse_gate(const std::string& where, const Arguments& arguments, Traffic& traffic) {
  const bool laedge = traffic.method == Method::kLaedge;
  if (!laedge && !clones_in_switch(traffic.method)) return;
  const char* name = laedge ? "coordinator" : "switch_server_address";
  const Json* given = arguments.object_or_null(name);
  if (given == nullptr) {
    arguments.fail(name, nullptr,
                   std::string(R"({"address", "port"}: where )") + method_name(traffic.method) +
                       " sends requests");
  }
  traffic.gate = address_of(where + ", " + name, *given);
}

void parse_clients(const Arguments& arguments, Plan& plan) {
  plan.clients_total =
      static_cast<std::uint16_t>(arguments.integer("clients_total", 1, kMaxClients));
  std::set<std::int64_t> known;
  for (const std::int64_t client : arguments.integers("clients", 0, plan.clients_total - 1)) {
    if (!known.insert(client).second) arguments.fail("clients", client, "each client only once");
    plan.clients.push_back(static_cast<std::uint16_t>(client));
  }
}

void parse_objects(const std::string& where, const Arguments& arguments, const Json& args,
                   Traffic& traffic) {
  traffic.mix = OperationMix::from_json(where, args.value("mix", Json()));
  if (!traffic.mix.stores()) return;
  const auto objects = static_cast<std::uint64_t>(arguments.integer("objects", 1, kMaxObjects));
  const double theta = arguments.number("theta", 0.01, 0.999);
  traffic.objects.emplace(objects, theta);
}

void parse_arrivals(const std::string& where, const Arguments& arguments, Plan& plan) {
  plan.rate_per_s = arguments.number("rate_per_s", 1e-3, 1e9);
  const Json* given = arguments.object_or_null("arrivals");
  if (given == nullptr) return;
  const Arguments fields(where + ", arrivals", *given, {"process", "dilation", "file"});
  try {
    plan.process = load::process_of(fields.text("process"));
    if (given->contains("dilation")) plan.arrivals_dilation = fields.number("dilation", 1e-3, 1e6);
    if (plan.process == load::Process::kTrace) plan.trace = load::read_trace(fields.text("file"));
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ", arrivals: " + error.what());
  }
}

void parse_loop(const Arguments& arguments, const Json& args, Plan& plan) {
  plan.loop.outstanding_max =
      static_cast<std::size_t>(arguments.integer_or("outstanding_max", 0, INT32_MAX, 0));
  plan.loop.give_up_ns = arguments.integer_or("give_up_ms", 1, kDayMs, 10'000) * 1'000'000;
  for (const Json& over :
       args.contains("over_ns") ? arguments.array_or_empty("over_ns") : Json::array()) {
    if (!over.is_number() || over < 0)
      arguments.fail("over_ns", over, "latencies in ns, from 0 on");
    plan.loop.over_ns.push_back(static_cast<std::int64_t>(over.get<double>()));
  }
  const double gap_us = 1e6 * plan.clients_total / plan.rate_per_s;
  const double early_us = std::min(kWakeEarlyUs, kWakeEarlyShare * gap_us);
  plan.frame.spin_ns =
      arguments.integer_or("spin_us", 0, 1'000'000, static_cast<std::int64_t>(early_us)) * 1000;
  plan.frame.realtime = plan.frame.spin_ns <= kBriefSpinNs;
  plan.probes = static_cast<unsigned>(arguments.integer_or("probes", 0, 10'000, 20));
  plan.probe_deadline_ns = arguments.integer_or("probe_deadline_ms", 1, 600'000, 2000) * 1'000'000;
}

void parse_work(const std::string& where, const Arguments& arguments, Plan& plan) {
  const Json* given = arguments.object_or_null("work");
  if (given == nullptr) return;
  const Traffic& traffic = plan.traffic;
  plan.work = simulation::settings_from_json(where, traffic.method, traffic.server_count(),
                                             traffic.seed, *given);
  plan.work->mix = traffic.mix;
}

}  // namespace

Plan Plan::parse(const std::string& where, const Json& args) {
  const Arguments arguments(where, args,
                            {"method",
                             "clients",
                             "clients_total",
                             "servers",
                             "coordinator",
                             "switch_server_address",
                             "rate_per_s",
                             "arrivals",
                             "seed",
                             "outstanding_max",
                             "give_up_ms",
                             "mix",
                             "objects",
                             "theta",
                             "work",
                             "over_ns",
                             "record_latencies",
                             "spin_us",
                             "probes",
                             "probe_deadline_ms"});
  Plan plan;
  plan.traffic.method = method_from_name(where, arguments.text("method"));
  plan.traffic.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX));
  parse_servers(where, arguments, plan.traffic);
  parse_gate(where, arguments, plan.traffic);
  parse_clients(arguments, plan);
  parse_objects(where, arguments, args, plan.traffic);
  parse_arrivals(where, arguments, plan);
  parse_loop(arguments, args, plan);
  plan.loop.record_latencies =
      args.contains("record_latencies") && arguments.boolean("record_latencies");
  parse_work(where, arguments, plan);
  try {
    plan.arrivals(0);
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ", arrivals: " + error.what());
  }
  return plan;
}

load::Arrivals Plan::arrivals(std::uint16_t client) const {
  return load::Arrivals({.process = process,
                         .rate_per_s = rate_per_s / clients_total,
                         .dilation = arrivals_dilation,
                         .trace = trace,
                         // Clients begin at different places.
                         .trace_begin = trace.size() * client / clients_total});
}

load::Gap Plan::gap(std::uint16_t client) const {
  return [arrivals = arrivals(client), seed = traffic.seed, client](std::uint64_t number) {
    return arrivals.gap_s(number, uniform(seed, Stream::kGap, request_id(client, number)));
  };
}

}  // namespace turntable::netclone
