#include "netclone/coordinator/coordinator_node.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/command_error.h"
#include "net/udp.h"
#include "node/arguments.h"

namespace turntable::netclone {
namespace {

using Json = CoordinatorNode::Json;
using node::Arguments;

constexpr int kFormat = 1;
constexpr std::size_t kQueued = 8192;  // datagrams that wait to be read
constexpr std::int64_t kMaxWorkers = 1024;
constexpr const char* kPrepare = "laedge-coordinator prepare";

std::vector<sockaddr_in> servers_of(const Arguments& arguments) {
  std::vector<sockaddr_in> servers;
  for (const Json& server : arguments.array("servers")) {
    if (!server.is_object()) arguments.fail("servers", server, R"(objects {"address", "port"})");
    const std::string where =
        std::string(kPrepare) + ", servers[" + std::to_string(servers.size()) + "]";
    const Arguments fields(where, server, {"address", "port"});
    const auto port = static_cast<std::uint16_t>(fields.integer("port", 1, 65535));
    servers.push_back(net::parse_ipv4(where + ": \"address\"", fields.text("address"), port));
  }
  if (servers.size() > kMaxServers)
    arguments.fail("servers", servers.size(), "at most " + std::to_string(kMaxServers));
  return servers;
}

// A number for all servers, or one for each.
std::vector<std::uint32_t> workers_of(const Arguments& arguments, const Json& args,
                                      std::size_t servers) {
  if (!args.contains("workers") || !args["workers"].is_array()) {
    const std::int64_t all = arguments.integer("workers", 1, kMaxWorkers);
    return std::vector<std::uint32_t>(servers, static_cast<std::uint32_t>(all));
  }
  std::vector<std::uint32_t> workers;
  for (const std::int64_t of_one : arguments.integers("workers", 1, kMaxWorkers))
    workers.push_back(static_cast<std::uint32_t>(of_one));
  if (workers.size() != servers) {
    arguments.fail("workers", args["workers"],
                   "a number, or one for each of the " + std::to_string(servers) + " servers");
  }
  return workers;
}

Json counts_of(const Coordinator::Counts& counts) {
  return {{"requests", counts.requests},     {"cloned", counts.cloned},
          {"single", counts.single},         {"waited", counts.waited},
          {"queue_full", counts.queue_full}, {"forwarded", counts.forwarded},
          {"redundant", counts.redundant},   {"unknown", counts.unknown},
          {"given_up", counts.given_up}};
}

}  // namespace

Json CoordinatorNode::prepare(const Json& args) {
  const Arguments arguments(kPrepare, args,
                            {"mode", "workers", "servers", "seed", "queue_max", "give_up_ms"});
  std::vector<sockaddr_in> servers = servers_of(arguments);
  Coordinator::Settings settings;
  settings.mode = laedge_mode_from_name(kPrepare, arguments.text("mode"));
  settings.workers = workers_of(arguments, args, servers.size());
  settings.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX));
  settings.queue_max = static_cast<std::size_t>(
      arguments.integer_or("queue_max", 1, CoordinatorThread::Statistics::kMaxQueue, 100'000));
  settings.give_up_ns = arguments.integer_or("give_up_ms", 1, 86'400'000, 10'000) * 1'000'000;

  const std::lock_guard lock(mutex_);
  end();  // its port is needed again
  net::DatagramSettings datagrams = datagrams_;
  datagrams.queued = kQueued;
  coordinator_ = std::make_unique<CoordinatorThread>(settings, std::move(servers),
                                                     net::open_datagrams(datagrams));
  thread_ = std::thread([this] { coordinator_->run(); });
  return Json::object();
}

Json CoordinatorNode::start(const Json& args) {
  const Arguments arguments("laedge-coordinator start", args,
                            {"measure_from_ns", "measure_until_ns"});
  const std::int64_t from = arguments.integer("measure_from_ns", 0, INT64_MAX);
  const std::int64_t until = arguments.integer("measure_until_ns", from, INT64_MAX);
  const std::lock_guard lock(mutex_);
  require_serving("start");
  const std::int64_t to_monotonic = realtime_to_monotonic_ns();
  coordinator_->set_window(from + to_monotonic, until + to_monotonic);
  window_ns_ = until - from;
  return Json::object();
}

Json CoordinatorNode::stats(const Json& args) {
  const Arguments arguments("laedge-coordinator stats", args, {});
  const std::lock_guard lock(mutex_);
  require_serving("stats");
  const CoordinatorThread::Statistics s = coordinator_->statistics();
  Json raw = counts_of(s.total);
  raw.update({{"format", kFormat},
              {"window_ns", window_ns_},
              {"complete", s.window_closed},
              {"window", counts_of(s.window)},
              {"malformed", s.malformed},
              {"no_client", s.no_client},
              {"send_errors", s.send_errors},
              {"receive_errors", s.receive_errors},
              {"socket_drops", s.socket_drops},
              {"under_way", s.under_way},
              {"queue_length", s.queue_length},
              {"queue_length_at_arrival", s.queue_length_at_arrival.encode()},
              {"queue_wait_ns", s.queue_wait_ns.encode()},
              {"cpu_ns", s.cpu_ns},
              {"read_late_max_us", static_cast<double>(s.read_lateness_max_ns) / 1e3},
              {"realtime", s.realtime},
              {"run_ns", nullptr},
              {"wait_ns", nullptr}});
  if (s.scheduling) {
    raw["run_ns"] = s.scheduling->run_ns;
    raw["wait_ns"] = s.scheduling->wait_ns;
  }
  return raw;
}

Json CoordinatorNode::stop(const Json& args) {
  const Arguments arguments("laedge-coordinator stop", args, {});
  const std::lock_guard lock(mutex_);
  end();
  return Json::object();
}

void CoordinatorNode::require_serving(const char* command) const {
  if (coordinator_) return;
  throw CommandError("wrong_state", std::string("laedge-coordinator ") + command +
                                        ": nothing is served; send `prepare` first");
}

void CoordinatorNode::end() {
  if (coordinator_) coordinator_->stop();
  if (thread_.joinable()) thread_.join();
  coordinator_.reset();
}

}  // namespace turntable::netclone
