#include "shadowfax/client/load_arguments.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"
#include "hybridlog/value.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {
namespace {

using node::Arguments;
using Json = nlohmann::json;

constexpr std::int64_t kMaxKeys = 1'000'000'000'000;
constexpr std::int64_t kMaxWorkers = 1024;
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxClients = 1024;
constexpr std::int64_t kMaxPipeline = 1024;
constexpr std::int64_t kMaxCpu = 1023;
constexpr std::int64_t kMaxPort = 65'535;
constexpr double kMaxRate = 1e9;
constexpr std::int64_t kMaxSampleMs = 1'000'000;

Protocol protocol_of(const Arguments& arguments) {
  const std::string word = arguments.text_or("protocol", "shadowfax");
  const std::optional<Protocol> protocol = shadowfax::protocol_of(word);
  if (!protocol) arguments.fail("protocol", word, "shadowfax, memcached or redis");
  return *protocol;
}

Servers servers_of(const std::string& where, const Arguments& arguments) {
  const Protocol protocol = protocol_of(arguments);
  const std::string metadata = arguments.text_or("metadata", "");
  if (!metadata.empty() && protocol != Protocol::kShadowfax)
    arguments.fail("metadata", metadata, "none: it knows servers of Shadowfax alone (protocol)");
  if (!metadata.empty()) return {.metadata = metadata};
  std::vector<ServerAddress> servers;
  for (const Json& each : arguments.array("servers")) {
    const Arguments server(where + ", servers", each, {"address", "base_port", "workers"});
    const std::int64_t base_port = server.integer("base_port", 1, kMaxPort);
    const std::int64_t most = std::min(kMaxWorkers, kMaxPort + 1 - base_port);
    servers.push_back(server_at(server.text("address"), static_cast<unsigned>(base_port),
                                static_cast<unsigned>(server.integer("workers", 1, most))));
  }
  return {.given = std::move(servers), .protocol = protocol};
}

Mix mix_of(const std::string& where, const Arguments& arguments) {
  constexpr double kRounding = 1e-9;
  const Json& given = arguments.object("mix");
  const Arguments shares(where + ", mix", given, {"read", "upsert", "add"});
  const Mix mix{.read = shares.number("read", 0, 1),
                .upsert = shares.number("upsert", 0, 1),
                .add = shares.number("add", 0, 1)};
  if (std::abs(mix.read + mix.upsert + mix.add - 1) > kRounding)
    arguments.fail("mix", given, "shares that add up to 1");
  return mix;
}

// Nothing: none is given.
std::shared_ptr<const KeyFile> key_file(const std::string& where, const Arguments& arguments,
                                        const char* name,
                                        std::optional<std::uint64_t> expected = {}) {
  const std::string path = arguments.text_or(name, "");
  if (path.empty()) return nullptr;
  try {
    return std::make_shared<const KeyFile>(path, expected);
  } catch (const std::runtime_error& error) {
    throw bad_argument(where + ": " + name + ": " + error.what());
  }
}

// Of the other stores' values all bytes are a number, to which they add.
std::size_t value_bytes_of(const Arguments& arguments) {
  const bool is_ours = protocol_of(arguments) == Protocol::kShadowfax;
  return static_cast<std::size_t>(arguments.integer(
      "value_bytes", kFewestValueBytes,
      is_ours ? static_cast<std::int64_t>(hybridlog::kMostValueBytes) : kFewestValueBytes));
}

// Bytes of a batch that a server takes.
std::size_t fill_batch_bytes_of(const Arguments& arguments) {
  constexpr auto kLeast = static_cast<std::int64_t>(RequestHeader::kBytes + Request::kBytes);
  return static_cast<std::size_t>(arguments.integer_or(
      "batch_bytes", kLeast, static_cast<std::int64_t>(kMostBatchBytes), kFillBatchBytes));
}

std::optional<double> theta_of(const Arguments& arguments) {
  const std::string distribution = arguments.text("distribution");
  if (distribution == "uniform") return std::nullopt;
  if (distribution != "zipfian") arguments.fail("distribution", distribution, "uniform or zipfian");
  return arguments.number("theta", 0.01, 0.999);
}

}  // namespace

FillSettings fill_arguments(const std::string& where, const Arguments& arguments) {
  const std::int64_t clients = arguments.integer("clients", 1, kMaxClients);
  const auto keys = static_cast<std::uint64_t>(arguments.integer("keys", 1, kMaxKeys));
  return {.servers = servers_of(where, arguments),
          .threads = static_cast<std::size_t>(arguments.integer("threads", 1, kMaxThreads)),
          .keys = keys,
          .file = key_file(where, arguments, "load_file", keys),
          .client = static_cast<std::uint64_t>(arguments.integer("client", 0, clients - 1)),
          .clients = static_cast<std::uint64_t>(clients),
          .value_bytes = value_bytes_of(arguments),
          .batch_bytes = fill_batch_bytes_of(arguments),
          .pipeline = static_cast<std::size_t>(
              arguments.integer_or("pipeline", 1, kMaxPipeline, kFillPipeline))};
}

LoadSettings load_arguments(const std::string& where, const Json& args) {
  const Arguments arguments(
      where, args,
      {"protocol", "servers", "metadata", "threads", "cpus", "batch_operations", "pipeline",
       "value_bytes", "mix", "keys", "distribution", "theta", "txns_file", "seed", "client",
       "clients", "rate_per_s", "sample_ms"});
  const std::int64_t clients = arguments.integer("clients", 1, kMaxClients);
  const std::size_t value_bytes = value_bytes_of(arguments);
  const auto most_requests = static_cast<std::int64_t>(Sizes(value_bytes).most_requests());
  LoadSettings settings{
      .servers = servers_of(where, arguments),
      .threads = static_cast<unsigned>(arguments.integer("threads", 1, kMaxThreads)),
      .batching = {.batch_requests = static_cast<std::size_t>(
                       arguments.integer("batch_operations", 1, most_requests)),
                   .pipeline =
                       static_cast<std::size_t>(arguments.integer("pipeline", 1, kMaxPipeline)),
                   .value_bytes = value_bytes},
      .mix = mix_of(where, arguments),
      .keys = static_cast<std::uint64_t>(arguments.integer("keys", 1, kMaxKeys)),
      .theta = theta_of(arguments),
      .txns_file = key_file(where, arguments, "txns_file"),
      .seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX)),
      .client = static_cast<unsigned>(arguments.integer("client", 0, clients - 1)),
      .clients = static_cast<unsigned>(clients)};
  if (!arguments.array_or_empty("cpus").empty()) {
    for (const std::int64_t cpu : arguments.integers("cpus", 0, kMaxCpu))
      settings.cpus.push_back(static_cast<int>(cpu));
  }
  constexpr std::int64_t kSecondMs = 1000;
  settings.sample_ns =
      arguments.integer_or("sample_ms", 1, kMaxSampleMs, kSecondMs) * kMillisecondNs;
  if (args.contains("rate_per_s") && !args.at("rate_per_s").is_null())
    settings.rate_per_s = arguments.number("rate_per_s", 0.001, kMaxRate);
  return settings;
}

}  // namespace turntable::shadowfax
