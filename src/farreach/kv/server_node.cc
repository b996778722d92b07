#include "farreach/kv/server_node.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"
#include "farreach/cache/snapshot_file.h"
#include "farreach/kv/arguments.h"
#include "node/measured_window.h"

namespace turntable::kv {
namespace {

using Json = ServerNode::Json;

constexpr double kMaxCapacity = 1e6;  // a service time below 1 us is no longer a limit

constexpr std::int64_t kMaxUpdateDelayUs = 1'000'000;

Method method_of(const Arguments& arguments) {
  return method_from_name(arguments.text_or("method", method_name(Method::kNoCache)));
}

StoreSpec store_spec(const Arguments& arguments) {
  return {.workload = arguments.workload(),
          .scale = arguments.scale(),
          .profile = store_profile_from_name(arguments.text("store_profile")),
          .numbered = has_numbers(method_of(arguments))};
}

std::optional<sockaddr_in> controller_of(const Arguments& arguments, Method method,
                                         bool has_secret) {
  if (const Json* given = arguments.object_or_null("controller");
      given != nullptr && !has_numbers(method)) {
    arguments.fail("controller", *given, "none with method nocache, which has no cache to control");
  }
  return arguments.controller_or_none(has_secret);
}

struct Placement {
  unsigned partition;
  std::uint16_t udp_port;
};

std::vector<Placement> placements(const Arguments& arguments, unsigned scale) {
  std::vector<Placement> placements;
  std::set<unsigned> partitions, ports;
  for (const Json& element : arguments.array("logical_servers")) {
    if (!element.is_object()) {
      arguments.fail("logical_servers", element, R"(objects {"partition", "udp_port"})");
    }
    const Arguments fields("kvserver prepare, logical_servers", element, {"partition", "udp_port"});
    const auto partition = static_cast<unsigned>(fields.integer("partition", 0, scale - 1));
    const auto port = static_cast<std::uint16_t>(fields.integer("udp_port", 1, 65535));
    if (!partitions.insert(partition).second || !ports.insert(port).second) {
      arguments.fail("logical_servers", element, "each partition and each udp_port once");
    }
    placements.push_back({partition, port});
  }
  return placements;
}

// The inverse of workload::store_key.
workload::KeyId key_id_of(const workload::KeyBytes& store_key) {
  workload::KeyId id = 0;
  for (std::size_t i = 0; i < sizeof(id); ++i) id = id << 8 | store_key[i];
  return id;
}

cache::Record cache_record(const workload::KeyBytes& store_key, const Record& record) {
  using Kind = cache::Record::Kind;
  return {.key = workload::wire_key(key_id_of(store_key)),
          .kind = record.exists ? Kind::kValue : Kind::kDeleted,
          .number = record.number,
          .value = {record.value.begin(), record.value.end()}};
}

void write_snapshot(const ControllerLink::Server& server, std::uint32_t token,
                    cache::SnapshotWriter& writer) {
  const std::string what =
      "kvserver snapshot_records: partition " + std::to_string(server.partition);
  const auto result =
      server.records->for_each_at(token, [&](const workload::KeyBytes& key, const Record& record) {
        writer.add(cache_record(key, record));
      });
  if (result == Store::Result::kNotFound) {
    throw CommandError("not_found", what + " has no snapshot " + std::to_string(token) +
                                        "; the last complete one of the cache-controller is there "
                                        "until the next");
  }
  if (result == Store::Result::kError) {
    throw CommandError("unavailable", what + ": " + server.records->first_error());
  }
}

}  // namespace

ServerNode::ServerNode(const sockaddr_in& address, const std::filesystem::path& state_dir,
                       std::optional<net::Credentials> credentials,
                       std::function<void(std::string)> set_state)
    : address_(address),
      credentials_(std::move(credentials)),
      set_state_(std::move(set_state)),
      library_(state_dir) {}

// The workers report store errors to members that would be gone before servers_. The stores stay
// for the next process, as if this one had been killed.
ServerNode::~ServerNode() {
  if (link_) link_->stop();
  for (const auto& server : servers_) server->leave_store();
  servers_.clear();
}

Json ServerNode::load(const Json& args) {
  const Arguments arguments("kvserver load", args,
                            {"workload", "scale", "partitions", "store_profile", "method"});
  const StoreSpec spec = store_spec(arguments);
  const auto partitions = arguments.partitions(spec.scale);

  const std::lock_guard lock(library_mutex_);
  const std::int64_t begin = monotonic_ns();
  Json loaded = Json::array();
  for (const auto& store : library_.load(spec, partitions)) {
    loaded.push_back({{"partition", store.partition},
                      {"keys", store.keys},
                      {"reused", store.reused},
                      {"seconds", store.seconds}});
  }
  return {{"digest", digest_of(spec)},
          {"partitions", std::move(loaded)},
          {"seconds", static_cast<double>(monotonic_ns() - begin) / 1e9}};
}

Json ServerNode::prepare(const Json& args) {
  const Arguments arguments(
      "kvserver prepare", args,
      {"workload", "scale", "store_profile", "method", "logical_servers", "capacity_ops_per_s",
       "value_update_delay_us", "controller", "keep_stores"});
  const StoreSpec spec = store_spec(arguments);
  const Method method = method_of(arguments);
  const std::int64_t update_delay_us =
      arguments.integer_or("value_update_delay_us", 0, kMaxUpdateDelayUs, 0);
  if (update_delay_us > 0 && method != Method::kNetCache) {
    arguments.fail("value_update_delay_us", update_delay_us,
                   std::string("none with method ") + method_name(method) +
                       ": only netcache updates values in the switch");
  }
  const double capacity = arguments.number("capacity_ops_per_s", 0, kMaxCapacity);
  const auto controller = controller_of(arguments, method, credentials_.has_value());
  const auto placed = placements(arguments, spec.scale);
  const bool keep_stores = args.contains("keep_stores") && arguments.boolean("keep_stores");

  const std::lock_guard library_lock(library_mutex_);
  const std::lock_guard lock(servers_mutex_);
  if (keep_stores) {
    for (const auto& [partition, udp_port] : placed) library_.require_left(spec, partition);
    for (const auto& server : servers_) server->leave_store();
  }
  close_servers();
  if (!keep_stores) library_.remove_left();
  if (controller) link_.emplace(*controller, *credentials_, spec.scale);
  std::vector<std::unique_ptr<LogicalServer>> servers;
  for (const auto& [partition, udp_port] : placed) {
    sockaddr_in address = address_;
    address.sin_port = htons(udp_port);
    const LogicalServer::Settings settings{
        .method = method,
        .partition = partition,
        .scale = spec.scale,
        .profile = spec.profile,
        .address = address,
        .capacity_ops_per_s = capacity,
        .clients = spec.workload.clients,
        .large_values = method != Method::kNoCache || spec.workload.value_bytes > kMaxValueBytes,
        .value_update_delay_ns = update_delay_us * 1000,
        .is_controlled = controller.has_value()};
    servers.push_back(std::make_unique<LogicalServer>(
        settings,
        keep_stores ? library_.left_copy(spec, partition) : library_.copy(spec, partition),
        [this, p = partition](const std::string& message) { store_failed(p, message); },
        [this] {
          if (link_) link_->wake();
        }));
  }
  servers_ = std::move(servers);
  for (const auto& server : servers_) server->own_store();
  link_servers();
  set_state_("serving");
  return {{"logical_servers", servers_.size()}};
}

Json ServerNode::start(const Json& args) {
  const Arguments arguments("kvserver start", args, {"measure_from_ns", "measure_until_ns"});
  const node::MeasuredWindow window = node::measured_window(arguments);

  const std::lock_guard lock(servers_mutex_);
  require_serving("start");
  const std::int64_t offset = realtime_to_monotonic_ns();
  for (const auto& server : servers_)
    server->set_window(window.from_ns + offset, window.until_ns + offset);
  window_ns_ = window.until_ns - window.from_ns;
  return Json::object();
}

Json ServerNode::stats(const Json& args) {
  const Arguments arguments("kvserver stats", args, {});
  const std::lock_guard lock(servers_mutex_);
  require_serving("stats");
  Json servers = Json::array();
  for (const auto& server : servers_) servers.push_back(server->statistics());
  Json result = {{"logical_servers", std::move(servers)}, {"window_ns", window_ns_}};
  if (link_) result["controller"] = link_->statistics();
  const std::lock_guard error_lock(error_mutex_);
  if (!last_store_error_.empty()) result["last_store_error"] = last_store_error_;
  return result;
}

// For small stores: nothing is served meanwhile.
Json ServerNode::snapshot_records(const Json& args) {
  const Arguments arguments("kvserver snapshot_records", args, {"token", "path"});
  const auto token = static_cast<std::uint32_t>(arguments.integer("token", 1, UINT32_MAX));
  const std::lock_guard lock(servers_mutex_);
  require_serving("snapshot_records");
  if (!link_) {
    throw CommandError("wrong_state",
                       "kvserver snapshot_records: there are no snapshots without a controller; "
                       "name one in `prepare`");
  }
  cache::SnapshotWriter writer(arguments.text("path"), token);
  for (const auto& server : servers_) write_snapshot(server->controlled(), token, writer);
  return {{"records", writer.finish()}};
}

Json ServerNode::stop(const Json& args) {
  const Arguments arguments("kvserver stop", args, {});
  const std::lock_guard library_lock(library_mutex_);
  const std::lock_guard lock(servers_mutex_);
  close_servers();
  library_.remove_left();
  return Json::object();
}

void ServerNode::link_servers() {
  if (!link_) return;
  std::vector<ControllerLink::Server> controlled;
  for (const auto& server : servers_) controlled.push_back(server->controlled());
  link_->start(std::move(controlled));
}

void ServerNode::close_servers() {
  if (link_) link_->stop();
  servers_.clear();
  link_.reset();
  window_ns_ = 0;
  const std::lock_guard lock(error_mutex_);
  last_store_error_.clear();
  set_state_("idle");
}

void ServerNode::store_failed(unsigned partition, const std::string& message) {
  const std::lock_guard lock(error_mutex_);
  last_store_error_ = "partition " + std::to_string(partition) + ": " + message;
  set_state_("degraded");
}

void ServerNode::require_serving(const char* command) const {
  if (!servers_.empty()) return;
  throw CommandError("wrong_state", std::string("kvserver ") + command +
                                        ": no logical server is open; send `prepare` first");
}

}  // namespace turntable::kv
