#include "netclone/coordinator/coordinator_node.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/command_error.h"
#include "net/udp.h"
#include "node/arguments.h"
#include "node/measured_window.h"

namespace turntable::netclone {
namespace {

using Json = CoordinatorNode::Json;
using node::Arguments;

constexpr int kFormat = 1;
constexpr std::size_t kQueued = 8192;  // datagrams that wait to be read
constexpr std::int64_t kMaxWorkers = 1024;
constexpr const char* kPrepare = "laedge-coordinator prepare";

// Of servers or clients, by index.
std::vector<sockaddr_in> addresses_of(const Arguments& arguments, const char* name,
                                      std::size_t most) {
  std::vector<sockaddr_in> addresses;
  for (const Json& each : arguments.array(name)) {
    if (!each.is_object()) arguments.fail(name, each, R"(objects {"address", "port"})");
    std::string where = kPrepare;
    where.append(", ")
        .append(name)
        .append("[")
        .append(std::to_string(addresses.size()))
        .append("]");
    const Arguments fields(where, each, {"address", "port"});
    const auto port = static_cast<std::uint16_t>(fields.integer("port", 1, 65535));
    addresses.push_back(net::parse_ipv4(where + ": \"address\"", fields.text("address"), port));
  }
  if (addresses.size() > most)
    arguments.fail(name, addresses.size(), "at most " + std::to_string(most));
  return addresses;
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
  const Arguments arguments(
      kPrepare, args, {"mode", "workers", "servers", "clients", "seed", "queue_max", "give_up_ms"});
  CoordinatorThread::Peers peers{.servers = addresses_of(arguments, "servers", kMaxServers),
                                 .clients = addresses_of(arguments, "clients", kMaxClients)};
  Coordinator::Settings settings;
  settings.mode = laedge_mode_from_name(kPrepare, arguments.text("mode"));
  settings.workers = workers_of(arguments, args, peers.servers.size());
  settings.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX));
  settings.queue_max = static_cast<std::size_t>(
      arguments.integer_or("queue_max", 1, CoordinatorThread::Statistics::kMaxQueue, 100'000));
  settings.give_up_ns = arguments.integer_or("give_up_ms", 1, 86'400'000, 10'000) * 1'000'000;

  const std::lock_guard lock(mutex_);
  end();  // its port is needed again
  net::DatagramSettings datagrams = datagrams_;
  datagrams.queued = kQueued;
  coordinator_ = std::make_unique<CoordinatorThread>(settings, std::move(peers),
                                                     net::open_datagrams(datagrams));
  thread_ = std::thread([this] { coordinator_->run(); });
  return Json::object();
}

Json CoordinatorNode::start(const Json& args) {
  const Arguments arguments("laedge-coordinator start", args,
                            {"measure_from_ns", "measure_until_ns"});
  const node::MeasuredWindow window = node::measured_window(arguments);
  const std::lock_guard lock(mutex_);
  require_serving("start");
  const std::int64_t to_monotonic = realtime_to_monotonic_ns();
  coordinator_->set_window(window.from_ns + to_monotonic, window.until_ns + to_monotonic);
  window_ns_ = window.until_ns - window.from_ns;
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
