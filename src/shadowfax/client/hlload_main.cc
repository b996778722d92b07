// hlload: clients with full pipelines or an open loop, and how many operations servers do for them:
// those of Shadowfax, or memcached and Redis, for a comparison at equal batches and pipelines.
// Prints what hlload-node records (docs/shadowfax-nodes.md), as JSON.

#include <unistd.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "common/clock.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "hybridlog/value.h"
#include "net/credentials.h"
#include "net/ipv4.h"
#include "shadowfax/client/directory.h"
#include "shadowfax/client/fill.h"
#include "shadowfax/client/load_thread.h"
#include "shadowfax/client/raw_statistics.h"
#include "shadowfax/wire.h"

namespace {

using namespace turntable;
using shadowfax::LoadSettings;
using shadowfax::LoadThread;

constexpr std::int64_t kFillNs = 3600 * kSecondNs;
constexpr double kMetadataSeconds = 30;

struct Options {
  LoadSettings load;
  std::vector<std::string> servers{"127.0.0.1"};
  std::string protocol = "shadowfax";
  unsigned port = 0, workers = 1;
  std::size_t fill_batch_bytes = shadowfax::kFillBatchBytes,
              fill_pipeline = shadowfax::kFillPipeline;
  double theta = 0, rate_per_s = 0, warmup_s = 0.5, seconds = 3, drain_s = 10, sample_ms = 1000;
  std::string metadata, secret, load_file, txns_file;
  bool fills = false, fills_only = false;
};

load::Schedule schedule_of(const Options& options) {
  load::Schedule schedule{.start_ns = monotonic_ns()};
  schedule.window_from_ns = schedule.start_ns + static_cast<std::int64_t>(options.warmup_s * 1e9);
  schedule.window_until_ns =
      schedule.window_from_ns + static_cast<std::int64_t>(options.seconds * 1e9);
  schedule.drain_until_ns =
      schedule.window_until_ns + static_cast<std::int64_t>(options.drain_s * 1e9);
  return schedule;
}

nlohmann::json measure(const Options& options) {
  std::vector<std::unique_ptr<LoadThread>> threads;
  for (unsigned i = 0; i < options.load.threads; ++i)
    threads.push_back(std::make_unique<LoadThread>(options.load, i));
  const load::Schedule schedule = schedule_of(options);
  for (const auto& thread : threads) thread->set_schedule(schedule);
  {
    std::vector<std::jthread> running;
    running.reserve(threads.size());
    for (const auto& thread : threads) running.emplace_back([&thread] { thread->run(); });
  }
  std::vector<shadowfax::ThreadResult> results;
  results.reserve(threads.size());
  for (const auto& thread : threads) results.push_back(thread->result());
  nlohmann::json raw =
      shadowfax::raw_statistics(results, schedule.window_ns(), options.load.sample_ns);
  raw["operations_per_s"] = static_cast<double>(raw["operations"].get<std::uint64_t>()) * 1e9 /
                            static_cast<double>(schedule.window_ns());
  return raw;
}

void add_options(ProgramOptions& app, Options& options) {
  app.option("--servers", options.servers, "IPv4 addresses").comma_separated().shows_default();
  app.option("--protocol", options.protocol, "What the servers speak")
      .one_of({"shadowfax", "memcached", "redis"})
      .shows_default();
  app.option("--base-port", options.port,
             "Port of their first workers; 0: 22790, memcached's 11211 or Redis's 6379")
      .within(0, 65'535)
      .shows_default();
  app.option("--workers", options.workers, "Of each server").within(1, 1024).shows_default();
  app.option("--threads", options.load.threads, "Each with a session at every server")
      .within(1, 1024)
      .shows_default();
  app.option("--keys", options.load.keys, "How many").within(1, 1e12).shows_default();
  app.option("--theta", options.theta, "Of a Zipfian distribution; 0: uniform")
      .within(0, 0.999)
      .shows_default();
  app.option("--reads", options.load.mix.read, "Share of reads").within(0, 1).shows_default();
  app.option("--upserts", options.load.mix.upsert, "Share of upserts; the rest are additions")
      .within(0, 1)
      .shows_default();
  app.option("--batch", options.load.batching.batch_requests, "Requests of a batch")
      .within(1, static_cast<double>(shadowfax::kMostRequests))
      .shows_default();
  app.option("--value-bytes", options.load.batching.value_bytes, "Of each value")
      .within(shadowfax::kFewestValueBytes, hybridlog::kMostValueBytes)
      .shows_default();
  app.option("--pipeline", options.load.batching.pipeline, "Batches under way of a session")
      .within(1, 1024)
      .shows_default();
  app.option("--rate", options.rate_per_s, "Operations/s of an open loop; 0: pipelines are full")
      .within(0, 1e9)
      .shows_default();
  app.option("--seed", options.load.seed, "Of keys and instants").shows_default();
  app.option("--warmup", options.warmup_s, "Seconds").within(0, 3600).shows_default();
  app.option("--seconds", options.seconds, "That are measured").within(0.01, 3600).shows_default();
  app.option(
         "--drain", options.drain_s,
         "Seconds after them, at most, until all is answered, and what a server lost sent again")
      .within(0, 3600)
      .shows_default();
  app.option("--sample-ms", options.sample_ms, "Interval of the samples that are printed")
      .within(1, 1e6)
      .shows_default();
  app.option("--metadata", options.metadata,
             "HOST:PORT of hlmeta, instead of --servers: it knows who owns which keys");
  app.option("--secret", options.secret,
             "File with the secret that the servers were begun with, mode 0600");
  app.option("--load-file", options.load_file,
             "Keys that --fill stores, 8 bytes each; with --txns-file");
  app.option("--txns-file", options.txns_file, "Keys of the requests, in this order");
  app.option("--fill-batch-bytes", options.fill_batch_bytes,
             "Of Shadowfax's requests in a batch of --fill; other protocols: as many requests")
      .within(shadowfax::RequestHeader::kBytes + shadowfax::Request::kBytes,
              shadowfax::kMostBatchBytes)
      .shows_default();
  app.option("--fill-pipeline", options.fill_pipeline, "Batches under way of a session of --fill")
      .within(1, 1024)
      .shows_default();
  app.flag("--fill", options.fills, "Store all keys first");
  app.flag("--fill-only", options.fills_only, "Store all keys, and end");
}

// Where a server listens if nobody says anything else.
unsigned usual_port(shadowfax::Protocol protocol) {
  constexpr unsigned kMemcachedPort = 11'211, kRedisPort = 6379;
  switch (protocol) {
    case shadowfax::Protocol::kMemcached:
      return kMemcachedPort;
    case shadowfax::Protocol::kRedis:
      return kRedisPort;
    case shadowfax::Protocol::kShadowfax:
      break;
  }
  return shadowfax::kBasePort;
}

// The other stores' values are numbers of 8 bytes, and nobody but their servers knows their keys.
void use_protocol(Options& options) {
  shadowfax::Servers& servers = options.load.servers;
  servers.protocol = shadowfax::protocol_of(options.protocol).value();
  if (options.port == 0) options.port = usual_port(servers.protocol);
  if (servers.protocol == shadowfax::Protocol::kShadowfax) return;
  if (options.load.batching.value_bytes != shadowfax::kFewestValueBytes) {
    throw std::invalid_argument(
        "--value-bytes " + std::to_string(options.load.batching.value_bytes) +
        ": expected 8 with --protocol " + options.protocol + ", whose values are numbers");
  }
  if (!options.metadata.empty())
    throw std::invalid_argument("--metadata: expected none with --protocol " + options.protocol);
  if (!options.secret.empty())
    throw std::invalid_argument("--secret: expected none with --protocol " + options.protocol);
}

// Whether anything did.
bool say_what_failed(const nlohmann::json& raw) {
  bool any = false;
  for (const auto& [count, what, why] :
       {std::tuple("lost_sessions", " sessions were lost", "lost_why"),
        std::tuple("failed", " operations failed", "failed_why"),
        std::tuple("unreplayed",
                   " acknowledged updates could not be sent again to a server that lost them", ""),
        std::tuple("wrong_values", " values are none that anybody has written", "")}) {
    const auto number = raw["errors"][count].get<std::uint64_t>();
    if (number == 0) continue;
    any = true;
    std::cerr << "hlload: " << number << what;
    if (const auto words = raw.find(why); words != raw.end() && words->is_string())
      std::cerr << ": " << words->get<std::string>();
    std::cerr << std::endl;
  }
  return any;
}

int run(int argc, char** argv) {
  Options options;
  ProgramOptions app("hlload", "Loads servers of hybrid-log stores");
  add_options(app, options);
  if (const auto status = app.parse(argc, argv)) return *status;
  LoadSettings& load = options.load;
  load.mix.add = 1 - load.mix.read - load.mix.upsert;
  if (load.mix.add < 0)
    throw std::invalid_argument("--reads and --upserts: expected at most 1 together");
  if (options.load_file.empty() != options.txns_file.empty())
    throw std::invalid_argument("--load-file and --txns-file: expected both, or none of them");
  std::shared_ptr<const shadowfax::KeyFile> load_file;
  if (!options.load_file.empty()) {
    load_file = std::make_shared<const shadowfax::KeyFile>(options.load_file, load.keys);
    load.txns_file = std::make_shared<const shadowfax::KeyFile>(options.txns_file);
  }
  load.sample_ns = static_cast<std::int64_t>(options.sample_ms * 1e6);
  if (options.theta > 0) load.theta = options.theta;
  if (options.rate_per_s > 0) load.rate_per_s = options.rate_per_s;
  use_protocol(options);
  if (options.port + options.workers > 65'536)
    throw std::invalid_argument("--base-port and --workers: expected ports up to 65535");
  const std::size_t most = shadowfax::Sizes(load.batching.value_bytes).most_requests();
  if (load.batching.batch_requests > most) {
    throw std::invalid_argument("--batch " + std::to_string(load.batching.batch_requests) +
                                ": expected at most " + std::to_string(most) +
                                ", which are the longest batch with values of " +
                                std::to_string(load.batching.value_bytes) + " bytes");
  }
  for (const std::string& address : options.servers)
    load.servers.given.push_back(shadowfax::server_at(address, options.port, options.workers));
  std::optional<shadowfax::Directory> directory;
  if (!options.secret.empty()) {
    load.servers.credentials = net::Credentials::from_file(options.secret, "hlload",
                                                           "hlload " + std::to_string(::getpid()));
  }
  if (!options.metadata.empty()) {
    if (!load.servers.credentials) {
      throw std::invalid_argument("--metadata " + options.metadata +
                                  ": expected --secret FILE beside it");
    }
    directory.emplace(net::parse_endpoint("--metadata", options.metadata),
                      *load.servers.credentials, Deadline::after_seconds(kMetadataSeconds));
    load.servers = {.directory = &*directory};
  }
  const std::atomic<bool> cancelled{false};
  nlohmann::json filled;
  if (options.fills || options.fills_only) {
    const std::int64_t began_ns = monotonic_ns();
    const std::uint64_t stored = shadowfax::fill({.servers = load.servers,
                                                  .threads = options.workers,
                                                  .keys = load.keys,
                                                  .file = load_file,
                                                  .value_bytes = load.batching.value_bytes,
                                                  .batch_bytes = options.fill_batch_bytes,
                                                  .pipeline = options.fill_pipeline},
                                                 monotonic_ns() + kFillNs, cancelled);
    filled = {{"stored", stored},
              {"seconds", static_cast<double>(monotonic_ns() - began_ns) / 1e9}};
    if (options.fills_only) {
      std::cout << nlohmann::json{{"fill", filled}} << std::endl;
      return 0;
    }
  }
  std::cerr << "hlload: the load begins" << std::endl;
  nlohmann::json raw = measure(options);
  raw["fill"] = filled;  // null: nothing was stored
  std::cout << raw << std::endl;
  return say_what_failed(raw) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlload", [&] { return run(argc, argv); });
}
