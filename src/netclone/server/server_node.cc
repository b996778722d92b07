#include "netclone/server/server_node.h"

#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "netclone/server/calibrated_work.h"
#include "netclone/server/slot_server.h"
#include "netclone/server/worker_server.h"
#include "node/arguments.h"
#include "node/common_start.h"

namespace turntable::netclone {
namespace {

using Json = ServerNode::Json;
using node::Arguments;

constexpr int kFormat = 1;
constexpr std::int64_t kMaxWorkers = 1024;
constexpr double kMaxDilation = 1e5;

ServerSettings settings_of(const Arguments& arguments) {
  return {.index = static_cast<std::uint32_t>(arguments.integer("server", 0, kMaxServers - 1)),
          .workers = static_cast<std::uint32_t>(arguments.integer("workers", 1, kMaxWorkers)),
          .seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX)),
          .dilation = arguments.number("dilation", 1e-3, kMaxDilation),
          .service = ServiceTimes::from_json("rpcserver prepare", arguments.object("service"),
                                             arguments.object("jitter")),
          .drop_clones = arguments.boolean("drop_clones")};
}

std::unique_ptr<Server> spin_server(const ServerSettings& settings,
                                    std::unique_ptr<net::Datagrams> datagrams, Json& calibration) {
  const auto work = CalibratedWork::calibrated();
  calibration = {{"iterations_per_ns", work.calibration().iterations_per_ns},
                 {"error", work.calibration().error}};
  const std::vector<WorkerServer::Work> workers(settings.workers,
                                                [work](Job& job) { work.run(job.service_ns); });
  return std::make_unique<WorkerServer>(settings, std::move(datagrams), workers);
}

}  // namespace

ServerNode::ServerNode(const net::DatagramSettings& datagrams,
                       std::function<void(std::string)> set_state)
    : datagrams_(datagrams), set_state_(std::move(set_state)) {}

Json ServerNode::prepare(const Json& args) {
  const Arguments arguments(
      "rpcserver prepare", args,
      {"server", "mode", "workers", "seed", "dilation", "service", "jitter", "drop_clones"});
  const ServerSettings settings = settings_of(arguments);
  const std::string mode = arguments.text("mode");
  if (mode != "slots" && mode != "spin") arguments.fail("mode", mode, "slots or spin");

  const std::lock_guard lock(mutex_);
  server_.reset();  // its port is needed again
  window_ns_ = 0;
  calibration_ = nullptr;
  auto datagrams = net::open_datagrams(datagrams_);
  if (mode == "slots") {
    server_ = std::make_unique<SlotServer>(settings, std::move(datagrams));
  } else {
    server_ = spin_server(settings, std::move(datagrams), calibration_);
  }
  mode_ = mode;
  workers_ = settings.workers;
  set_state_("serving");
  return {{"calibration", calibration_}};
}

Json ServerNode::start(const Json& args) {
  const Arguments arguments("rpcserver start", args, {"measure_from_ns", "measure_until_ns"});
  const std::int64_t from = arguments.integer("measure_from_ns", 0, INT64_MAX);
  const std::int64_t until = arguments.integer("measure_until_ns", 0, INT64_MAX);
  if (until <= from) arguments.fail("measure_until_ns", until, "an instant after measure_from_ns");
  const std::int64_t late = realtime_ns() - from;
  if (late > 0) {
    arguments.fail(
        "measure_from_ns", from,
        "an instant to come (CLOCK_REALTIME): the command came " + node::seconds_text(late) +
            " after it, and what was served since cannot be counted any more; " + node::kWhyLate);
  }
  const std::lock_guard lock(mutex_);
  require_serving("start");
  const std::int64_t offset = realtime_to_monotonic_ns();
  server_->set_window({from + offset, until + offset});
  window_ns_ = until - from;
  return Json::object();
}

Json ServerNode::stats(const Json& args) {
  const Arguments arguments("rpcserver stats", args, {});
  const std::lock_guard lock(mutex_);
  require_serving("stats");
  Json json = raw_statistics(server_->statistics());
  json["format"] = kFormat;
  json["mode"] = mode_;
  json["slots"] = workers_;
  json["window_ns"] = window_ns_;
  json["calibration"] = calibration_;
  return json;
}

Json ServerNode::stop(const Json& args) {
  const Arguments arguments("rpcserver stop", args, {});
  const std::lock_guard lock(mutex_);
  server_.reset();
  window_ns_ = 0;
  set_state_("idle");
  return Json::object();
}

void ServerNode::require_serving(const char* command) const {
  if (server_) return;
  throw CommandError("wrong_state", std::string("rpcserver ") + command +
                                        ": nothing is served; send `prepare` first");
}

}  // namespace turntable::netclone
