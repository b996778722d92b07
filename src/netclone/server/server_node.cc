#include "netclone/server/server_node.h"

#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "netclone/server/calibrated_work.h"
#include "netclone/server/redis_calibration.h"
#include "netclone/server/slot_server.h"
#include "netclone/server/worker_server.h"
#include "node/arguments.h"
#include "node/measured_window.h"

namespace turntable::netclone {
namespace {

using Json = ServerNode::Json;
using node::Arguments;

constexpr int kFormat = 1;
constexpr std::int64_t kMaxWorkers = 1024;
constexpr double kMaxDilation = 1e5;
constexpr std::int64_t kMaxObjects = 100'000'000;
constexpr std::int64_t kMaxSamples = 10'000'000;

ServerSettings settings_of(const Arguments& arguments) {
  return {.index = static_cast<std::uint32_t>(arguments.integer("server", 0, kMaxServers - 1)),
          .workers = static_cast<std::uint32_t>(arguments.integer("workers", 1, kMaxWorkers)),
          .seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX)),
          .dilation = arguments.number("dilation", 1e-3, kMaxDilation),
          .service = ServiceTimes::from_json("rpcserver prepare", arguments.object("service"),
                                             arguments.object("jitter")),
          .drop_clones = arguments.boolean("drop_clones")};
}

std::unique_ptr<WorkerServer> spin_server(const ServerSettings& settings,
                                          std::unique_ptr<net::Datagrams> datagrams,
                                          Json& calibration) {
  const auto work = CalibratedWork::calibrated();
  calibration = {{"iterations_per_ns", work.calibration().iterations_per_ns},
                 {"error", work.calibration().error}};
  const std::vector<WorkerServer::Work> workers(settings.workers,
                                                [work](Job& job) { work.run(job.service_ns); });
  return std::make_unique<WorkerServer>(settings, std::move(datagrams), workers);
}

// What the execution takes is what was planned.
WorkerServer::Work work_at(std::shared_ptr<RedisExecutor> redis) {
  return [redis = std::move(redis)](Job& job) {
    if (redis->accepts(job.packet)) redis->execute(job.packet);
    job.service_ns = monotonic_ns() - job.start_ns;
  };
}

std::uint32_t objects_of(const Arguments& arguments) {
  return static_cast<std::uint32_t>(arguments.integer("objects", kScannedObjects, kMaxObjects));
}

// Where times are dilated, requests are executed for their results alone.
bool executes_dilated(const Arguments& redis, const ServerSettings& settings) {
  const std::string timing = redis.text("timing");
  if (timing != "slots" && timing != "real") redis.fail("timing", timing, "slots or real");
  if (timing == "real" && settings.dilation != 1) {
    redis.fail("timing", timing, "slots: real Redis cannot be dilated (\"dilation\" is not 1)");
  }
  return timing == "slots";
}

}  // namespace

ServerNode::ServerNode(Place place, std::function<void(std::string)> set_state)
    : place_(std::move(place)), set_state_(std::move(set_state)) {}

Json ServerNode::calibrate(const Json& args) {
  const Arguments arguments("rpcserver calibrate", args, {"objects", "gets", "scans"});
  const std::uint32_t objects = objects_of(arguments);
  const RedisSamples samples{.gets = arguments.integer_or("gets", 1, kMaxSamples, 20'000),
                             .scans = arguments.integer_or("scans", 1, kMaxSamples, 5'000)};
  const std::lock_guard lock(mutex_);
  if (server_) {
    throw CommandError("wrong_state",
                       "rpcserver calibrate: requests are served meanwhile; send `stop` first");
  }
  start_redis(objects);
  RedisConnection connection(redis_->socket(), objects);
  return {{"service", calibrated_service(connection, objects, samples)}};
}

Json ServerNode::prepare(const Json& args) {
  const Arguments arguments("rpcserver prepare", args,
                            {"server", "mode", "workers", "seed", "dilation", "service", "jitter",
                             "drop_clones", "redis"});
  const ServerSettings settings = settings_of(arguments);
  const std::string mode = arguments.text("mode");
  if (mode != "slots" && mode != "spin" && mode != "redis") {
    arguments.fail("mode", mode, "slots, spin or redis");
  }

  const std::lock_guard lock(mutex_);
  close();
  if (mode == "redis") {
    const Arguments redis("rpcserver prepare, redis", arguments.object("redis"),
                          {"objects", "timing"});
    const bool dilated = executes_dilated(redis, settings);
    start_redis(objects_of(redis));
    server_ = redis_server(settings, net::open_datagrams(place_.datagrams), dilated);
  } else {
    redis_.reset();
    auto datagrams = net::open_datagrams(place_.datagrams);
    if (mode == "slots") {
      server_ = std::make_unique<SlotServer>(settings, std::move(datagrams));
    } else {
      server_ = spin_server(settings, std::move(datagrams), calibration_);
    }
  }
  mode_ = mode;
  workers_ = settings.workers;
  set_state_("serving");
  return {{"calibration", calibration_}};
}

// Its port is needed again. A redis-server stays.
void ServerNode::close() {
  server_.reset();
  window_ns_ = 0;
  calibration_ = nullptr;
  redis_counts_.reset();
  set_state_("idle");
}

// With that number of objects in it.
void ServerNode::start_redis(std::uint32_t objects) {
  if (redis_ && objects_ == objects && RedisConnection::answers(redis_->socket())) return;
  redis_.reset();
  redis_.emplace(place_.directory, place_.name);
  objects_ = objects;
  RedisConnection(redis_->socket(), objects).load();
}

std::unique_ptr<Server> ServerNode::redis_server(const ServerSettings& settings,
                                                 std::unique_ptr<net::Datagrams> datagrams,
                                                 bool dilated) {
  redis_counts_ = std::make_shared<RedisCounts>();
  const auto executor = [&] {
    return std::make_unique<RedisExecutor>(redis_->socket(), objects_, redis_counts_);
  };
  if (dilated) return std::make_unique<SlotServer>(settings, std::move(datagrams), executor());
  std::vector<WorkerServer::Work> work;
  for (std::uint32_t i = 0; i < settings.workers; ++i) work.push_back(work_at(executor()));
  return std::make_unique<WorkerServer>(settings, std::move(datagrams), std::move(work));
}

Json ServerNode::start(const Json& args) {
  const Arguments arguments("rpcserver start", args, {"measure_from_ns", "measure_until_ns"});
  const node::MeasuredWindow window = node::measured_window(arguments);
  const std::lock_guard lock(mutex_);
  require_serving("start");
  const std::int64_t offset = realtime_to_monotonic_ns();
  server_->set_window({window.from_ns + offset, window.until_ns + offset});
  window_ns_ = window.until_ns - window.from_ns;
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
  json["redis"] = redis_counts_ ? raw_counts(*redis_counts_) : Json();
  return json;
}

Json ServerNode::stop(const Json& args) {
  const Arguments arguments("rpcserver stop", args, {});
  const std::lock_guard lock(mutex_);
  close();
  return Json::object();
}

void ServerNode::require_serving(const char* command) const {
  if (server_) return;
  throw CommandError("wrong_state", std::string("rpcserver ") + command +
                                        ": nothing is served; send `prepare` first");
}

}  // namespace turntable::netclone
