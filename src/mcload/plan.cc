#include "mcload/plan.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/command_error.h"
#include "load/arrivals.h"
#include "mcload/generator_cpus.h"
#include "node/arguments.h"

namespace turntable::mcload {
namespace {

using Json = nlohmann::json;

// A view of some of the arguments: node::Arguments refuses names that it does not know.
Json only(const Json& args, std::initializer_list<const char*> names) {
  Json some = Json::object();
  for (const char* name : names)
    if (args.contains(name)) some[name] = args.at(name);
  return some;
}

}  // namespace

Store store_argument(const std::string& where, const Json& args) {
  const Json some = only(args, {"server", "protocol", "content"});
  const node::Arguments arguments(where, some, {"server", "protocol", "content"});
  Store store{.server = ServerAddress::from_json(where, arguments.object("server")),
              .content = ContentSettings::from_json(where, arguments.object("content"))};
  const std::string protocol = arguments.text_or("protocol", "ascii");
  try {
    store.protocol = protocol_of(protocol);
  } catch (const std::invalid_argument&) {
    arguments.fail("protocol", protocol, "ascii or binary");
  }
  return store;
}

void read_load(const std::string& where, const Json& args, GeneratorSettings& out) {
  const Json some = only(args, {"threads", "connections", "depth", "arrivals", "update"});
  const node::Arguments arguments(where, some,
                                  {"threads", "connections", "depth", "arrivals", "update"});
  out.threads = static_cast<std::uint32_t>(arguments.integer_or("threads", 1, kMaxThreads, 1));
  out.connections =
      static_cast<std::uint32_t>(arguments.integer_or("connections", 1, kMaxConnections, 1));
  out.depth = static_cast<std::uint32_t>(arguments.integer_or("depth", 1, kMaxDepth, 1));
  out.arrivals = arguments.text_or("arrivals", "exponential");
  out.update = some.contains("update") ? arguments.number("update", 0, 1) : 0;
  try {
    load::arrivals_of(out.arrivals, 1);
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ", arrivals: " + error.what() +
                       " (or exponential, uniform, periodic, normal)");
  }
}

void read_thread_settings(const std::string& where, const Json& args, GeneratorSettings& out) {
  const Json some = only(args, {"placement", "realtime", "spin_us"});
  const node::Arguments arguments(where, some, {"placement", "realtime", "spin_us"});
  out.frame.spin_ns = arguments.integer_or("spin_us", 0, kMaxSpinUs, 0) * 1000;
  out.frame.realtime = some.contains("realtime") && arguments.boolean("realtime");
  out.cpus = generator_cpus(where, some.contains("placement") ? some.at("placement") : Json());
}

PreparePlan prepare_plan(const std::string& where, const Json& args) {
  const node::Arguments arguments(
      where, args,
      {"server", "protocol", "content", "threads", "connections", "depth", "arrivals", "update",
       "rate_per_s", "peak_share", "peak_key", "seed", "client", "clients", "placement", "realtime",
       "spin_us"});
  PreparePlan plan{.store = store_argument(where, args), .generator = {}, .peak = {}};
  read_load(where, args, plan.generator);
  read_thread_settings(where, args, plan.generator);
  plan.generator.servers = {plan.store.server};
  plan.generator.protocol = plan.store.protocol;
  plan.clients = static_cast<std::uint32_t>(arguments.integer_or("clients", 1, 4096, 1));
  plan.generator.client =
      static_cast<std::uint32_t>(arguments.integer_or("client", 0, plan.clients - 1, 0));
  plan.generator.seed = static_cast<std::uint64_t>(arguments.integer_or("seed", 0, INT64_MAX, 1));
  if (args.contains("peak_share") || args.contains("peak_key")) {
    if (args.contains("rate_per_s"))
      arguments.fail("rate_per_s", args.at("rate_per_s"), "none beside peak_share and peak_key");
    plan.peak = {.share = arguments.number("peak_share", 1e-6, 100),
                 .key = arguments.text("peak_key")};
  } else {
    plan.generator.rate_per_s = arguments.number("rate_per_s", 1e-3, kMaxRate);
  }
  return plan;
}

}  // namespace turntable::mcload
