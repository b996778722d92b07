#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "bfrt_driver/entry_codec.h"
#include "bfrt_driver/port_commands.h"
#include "common/command_error.h"
#include "dataplane/values.h"

namespace turntable::bfrt_driver {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kQueues = 8;
constexpr std::uint64_t kPortsOfPipe = 128;
constexpr std::uint64_t kCellBytes = 80;
constexpr std::uint64_t kBitsOfKilobit = 1000;
constexpr std::uint64_t kDefaultBurstNs = 1'000'000;  // as softswitch: what 1 ms carries
constexpr int kNumberBits = 48;

std::uint64_t natural(const Json& value, const std::string& what) {
  return static_cast<std::uint64_t>(dataplane::parse_value(value, kNumberBits, what));
}

// Where the chip has a port's queues.
struct PlaceOfPort {
  std::uint64_t port;
  std::uint64_t group;
  std::uint64_t first_queue;

  std::uint32_t pipe() const { return static_cast<std::uint32_t>(port / kPortsOfPipe); }
  Json queue_key(std::uint64_t queue) const {
    return {{"pg_id", group}, {"pg_queue", first_queue + queue}};
  }
};

PlaceOfPort place_of(SwitchCalls& calls, std::uint64_t port) {
  const bfrt::Table& table = calls.schema().table("tf1.tm.port.cfg");
  const auto put_key = [&](std::size_t, bfrt_proto::TableEntry& entry) {
    set_key(table, "dev_port", port, entry);
  };
  const auto entries = calls.read_some(table, 1, put_key, SwitchCalls::From::kDriver);
  if (entries.empty())
    throw CommandError("not_found", "the switch has no port " + std::to_string(port));
  const Json data = entry_of(table, entries.front()).at("data");
  return {port, data.at("pg_id"), data.at("pg_port_nr").get<std::uint64_t>() * kQueues};
}

// Changes of the traffic manager's tables; those of queues are about one pipe.
class TrafficUpdates {
 public:
  explicit TrafficUpdates(const SwitchSchema& schema) : schema_(schema) {}

  void modify(const char* table, const Json& key, const Json& data,
              std::optional<std::uint32_t> pipe, const char* action = nullptr) {
    Json update = {{"op", "modify"}, {"table", table}, {"key", key}, {"data", data}};
    if (action != nullptr) update["action"] = action;
    add_update(schema_, update, request_);
    if (!pipe) return;
    auto& target = *request_.mutable_updates()
                        ->rbegin()
                        ->mutable_entity()
                        ->mutable_table_entry()
                        ->mutable_entry_tgt();
    target = request_.target();
    target.set_pipe_id(*pipe);
  }

  bfrt_proto::WriteRequest& request() { return request_; }

 private:
  const SwitchSchema& schema_;
  bfrt_proto::WriteRequest request_ = SwitchCalls::write_request();
};

void shape(TrafficUpdates& updates, const std::string& level, const Json& key, const Json& update,
           std::optional<std::uint32_t> pipe, const std::string& what) {
  if (!update.contains("max_rate_bps")) {
    if (update.contains("max_burst_bytes"))
      throw bad_argument(what + ": \"max_burst_bytes\" needs a \"max_rate_bps\" beside it");
    return;
  }
  const std::string cfg = "tf1.tm." + level + ".sched_cfg";
  if (update.at("max_rate_bps").is_null()) {
    updates.modify(cfg.c_str(), key, {{"max_rate_enable", false}}, pipe);
    return;
  }
  const std::uint64_t rate = natural(update.at("max_rate_bps"), what + ": \"max_rate_bps\"");
  const std::uint64_t burst =
      update.contains("max_burst_bytes")
          ? natural(update.at("max_burst_bytes"), what + ": \"max_burst_bytes\"")
          : rate / 8 * kDefaultBurstNs / 1'000'000'000;
  updates.modify(("tf1.tm." + level + ".sched_shaping").c_str(), key,
                 {{"unit", "BPS"},
                  {"provisioning", "UPPER"},
                  {"max_rate", (rate + kBitsOfKilobit - 1) / kBitsOfKilobit},
                  {"max_burst_size", burst}},
                 pipe);
  updates.modify(cfg.c_str(), key, {{"max_rate_enable", true}}, pipe);
}

void change_queue(TrafficUpdates& updates, const PlaceOfPort& place, const Json& update,
                  const std::string& what) {
  const std::uint64_t queue = natural(update.at("queue"), what + ": \"queue\"");
  if (queue >= kQueues)
    throw bad_argument(what + ": \"queue\" is " + std::to_string(queue) + "; expected 0 to 7");
  const Json key = place.queue_key(queue);
  shape(updates, "queue", key, update, place.pipe(), what);
  if (!update.contains("buffer_bytes")) return;
  const Json& bytes = update.at("buffer_bytes");
  if (bytes.is_null()) {
    updates.modify("tf1.tm.queue.buffer", key, {{"tail_drop_enable", false}}, place.pipe(),
                   "buffer_only");
    return;
  }
  const std::uint64_t limit = natural(bytes, what + ": \"buffer_bytes\"");
  updates.modify(
      "tf1.tm.queue.buffer", key,
      {{"guaranteed_cells", (limit + kCellBytes - 1) / kCellBytes}, {"tail_drop_enable", true}},
      place.pipe(), "buffer_only");
}

void change(SwitchCalls& calls, TrafficUpdates& updates, const Json& update,
            const std::string& what) {
  if (!update.is_object() || !update.contains("port")) {
    throw bad_argument(what +
                       ": \"port\" is missing; a limit of all queues together is "
                       "softswitch's alone (a Tofino has pools)");
  }
  if (update.contains("delay_ns") && !update.at("delay_ns").is_null() &&
      update.at("delay_ns") != 0) {
    throw bad_argument(what +
                       ": \"delay_ns\": a Tofino cannot delay a link; use another box, or "
                       "softswitch");
  }
  for (const char* name : {"link_bps", "link_overhead_bytes"}) {
    if (update.contains(name) && !update.at(name).is_null())
      throw bad_argument(what + ": \"" + name +
                         "\": a Tofino's port is a link already, with the speed of $PORT; shape it "
                         "with \"max_rate_bps\"");
  }
  const PlaceOfPort place = place_of(calls, natural(update.at("port"), what + ": \"port\""));
  if (update.contains("queue")) return change_queue(updates, place, update, what);
  shape(updates, "port", {{"dev_port", place.port}}, update, std::nullopt, what);
}

// The data of one entry of a table of queues; nothing where the switch has no such table.
Json read_queue(SwitchCalls& calls, const char* name, const PlaceOfPort& place,
                std::uint64_t queue) {
  if (!calls.schema().has(name)) return Json::object();
  const bfrt::Table& table = calls.schema().table(name);
  const auto put_key = [&](std::size_t, bfrt_proto::TableEntry& entry) {
    set_key(table, "pg_id", place.group, entry);
    set_key(table, "pg_queue", place.first_queue + queue, entry);
    *entry.mutable_entry_tgt() = SwitchCalls::read_request().target();
    entry.mutable_entry_tgt()->set_pipe_id(place.pipe());
  };
  const auto entries = calls.read_some(table, 1, put_key, SwitchCalls::From::kHardware);
  return entries.empty() ? Json::object() : entry_of(table, entries.front()).at("data");
}

Json rate_of(const Json& cfg, const Json& shaping) {
  Json rate = {{"max_rate_bps", nullptr}, {"max_burst_bytes", nullptr}};
  if (!cfg.value("max_rate_enable", false)) return rate;
  rate["max_rate_bps"] = shaping.value("max_rate", std::uint64_t{0}) * kBitsOfKilobit;
  rate["max_burst_bytes"] = shaping.value("max_burst_size", std::uint64_t{0});
  return rate;
}

Json describe_queue(SwitchCalls& calls, const PlaceOfPort& place, std::uint64_t queue) {
  Json answer = {{"queue", queue}};
  answer.update(rate_of(read_queue(calls, "tf1.tm.queue.sched_cfg", place, queue),
                        read_queue(calls, "tf1.tm.queue.sched_shaping", place, queue)));
  const Json counts = read_queue(calls, "tf1.tm.counter.queue", place, queue);
  for (const char* name : {"usage_cells", "watermark_cells", "drop_count_packets"})
    answer[name] = counts.value(name, Json());
  const Json buffer = read_queue(calls, "tf1.tm.queue.buffer", place, queue);
  answer["buffer_bytes"] = nullptr;
  if (buffer.value("tail_drop_enable", false))
    answer["buffer_bytes"] = buffer.value("guaranteed_cells", std::uint64_t{0}) * kCellBytes;
  return answer;
}

Json read_port(SwitchCalls& calls, const char* name, std::uint64_t port) {
  const bfrt::Table& table = calls.schema().table(name);
  const auto put_key = [&](std::size_t, bfrt_proto::TableEntry& entry) {
    set_key(table, "dev_port", port, entry);
  };
  const auto entries = calls.read_some(table, 1, put_key, SwitchCalls::From::kDriver);
  return entries.empty() ? Json::object() : entry_of(table, entries.front()).at("data");
}

std::vector<std::uint64_t> wanted_ports(SwitchCalls& calls, const Json& args) {
  if (args.contains("port")) return {natural(args.at("port"), "tm_read: \"port\"")};
  std::vector<std::uint64_t> ports;
  for (const Json& port : ports_of(calls)) ports.push_back(port.at("port"));
  return ports;
}

}  // namespace

Json tm_write(SwitchCalls& calls, const Json& args) {
  const auto given = args.find("updates");
  if (given == args.end() || !given->is_array())
    throw bad_argument("tm_write: \"updates\" is missing; expected a list");
  TrafficUpdates updates(calls.schema());
  for (std::size_t i = 0; i < given->size(); ++i)
    change(calls, updates, (*given)[i], "tm_write: updates[" + std::to_string(i) + "]");
  calls.write(updates.request());
  return {{"applied", given->size()}};
}

Json tm_read(SwitchCalls& calls, const Json& args) {
  Json ports = Json::array();
  for (const std::uint64_t port : wanted_ports(calls, args)) {
    const PlaceOfPort place = place_of(calls, port);
    Json queues = Json::array();
    for (std::uint64_t queue = 0; queue < kQueues; ++queue)
      queues.push_back(describe_queue(calls, place, queue));
    Json answer = {{"port", port}, {"delay_ns", 0U}, {"queues", std::move(queues)}};
    answer.update(rate_of(read_port(calls, "tf1.tm.port.sched_cfg", port),
                          read_port(calls, "tf1.tm.port.sched_shaping", port)));
    ports.push_back(std::move(answer));
  }
  return {{"ports", std::move(ports)}};
}

Json tm_clear(SwitchCalls& calls) {
  TrafficUpdates updates(calls.schema());
  for (const std::uint64_t port : wanted_ports(calls, Json::object())) {
    const PlaceOfPort place = place_of(calls, port);
    for (std::uint64_t queue = 0; queue < kQueues; ++queue) {
      updates.modify("tf1.tm.counter.queue", place.queue_key(queue),
                     {{"drop_count_packets", 0U}, {"watermark_cells", 0U}}, place.pipe());
    }
  }
  calls.write(updates.request());
  return Json::object();
}

}  // namespace turntable::bfrt_driver
