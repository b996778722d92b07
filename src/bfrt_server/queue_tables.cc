#include "bfrt_server/queue_tables.h"

#include <algorithm>

#include "bfrt_server/write_batch.h"
#include "common/command_error.h"
#include "dataplane/port_numbers.h"
#include "dataplane/replication.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using bfrt_proto::Update;

constexpr std::uint32_t kPortsPerGroup = 4;
constexpr std::uint32_t kQueuesPerPort = dataplane::kQueues;
constexpr int kDefaultWeight = 1023;

}  // namespace

Shapers::Shaper Shapers::at(Place place) {
  const std::lock_guard lock(mutex_);
  return shapers_[place];
}

void Shapers::set(Place place, const Shaper& shaper, SwitchLink& link) {
  const std::lock_guard lock(mutex_);
  Json update = {{"port", place.first}, {"max_rate_bps", nullptr}};
  if (place.second != kWholePort) update["queue"] = place.second;
  if (shaper.enabled && shaper.kbit_per_s != 0) {
    update["max_rate_bps"] = shaper.kbit_per_s * 1000;
    if (shaper.burst_bytes != 0) update["max_burst_bytes"] = shaper.burst_bytes;
  }
  link.call("tm_write", {{"updates", {update}}});
  shapers_[place] = shaper;
}

bool QueueTable::is_of_queues() const {
  return table().key("pg_queue") != nullptr;
}

Shapers::Place QueueTable::place_of(const bfrt_proto::TableKey& key,
                                    const bfrt_proto::TargetDevice& target,
                                    const std::string& context) const {
  const Json fields = key_of(key, context);
  if (!is_of_queues()) {
    const auto port = fields.at("dev_port").get<DevPort>();
    if (!ports_.exists(port)) throw invalid(context + ": no port " + std::to_string(port) + ";");
    return {port, Shapers::kWholePort};
  }
  if (target.pipe_id() >= pipes_) {
    throw invalid(context + ": pipe " + std::to_string(target.pipe_id()) +
                  "; a port group is of one pipe, expected 0 to " + std::to_string(pipes_ - 1) +
                  ";");
  }
  const auto group = fields.at("pg_id").get<std::uint32_t>();
  const auto queue = fields.at("pg_queue").get<std::uint32_t>();
  const DevPort port =
      target.pipe_id() * dataplane::kPortsPerPipe + group * kPortsPerGroup + queue / kQueuesPerPort;
  if (queue >= kPortsPerGroup * kQueuesPerPort || !ports_.exists(port)) {
    throw invalid(context + ": pg_id " + std::to_string(group) + ", pg_queue " +
                  std::to_string(queue) + " would be a queue of port " + std::to_string(port) +
                  ", which softswitch has not;");
  }
  return {port, static_cast<int>(queue % kQueuesPerPort)};
}

// softswitch has eight queues of strict priority, 7 first, and no minimum rates.
void QueueTable::check_scheduling(const Json& values, Shapers::Place place) const {
  const auto refuse = [&](const char* name, const std::string& instead) {
    throw cannot(std::string(name) + " is " + values.at(name).dump() + ": " + instead + ";");
  };
  if (values.value("min_rate_enable", false))
    refuse("min_rate_enable", "softswitch has no guaranteed rates");
  if (!values.value("scheduling_enable", true))
    refuse("scheduling_enable", "softswitch always serves its queues");
  if (values.value("dwrr_weight", kDefaultWeight) != kDefaultWeight)
    refuse("dwrr_weight", "softswitch has strict priorities only");
  const std::string own = std::to_string(place.second);
  if (is_of_queues() && values.value("max_priority", own) != own)
    refuse("max_priority", "softswitch serves this queue with priority " + own);
  if (values.value("scheduling_speed", "BF_SPEED_NONE") != "BF_SPEED_NONE")
    refuse("scheduling_speed", "softswitch has links without a speed; set a max_rate");
}

void QueueTable::check_shaping(const Json& values) const {
  if (values.value("unit", "BPS") != "BPS")
    throw cannot("unit is PPS: softswitch shapes bytes only;");
  if (values.value("min_rate", 0U) != 0 || values.value("min_burst_size", 0U) != 0)
    throw cannot("softswitch has no guaranteed rates: min_rate and min_burst_size can only be 0;");
}

void QueueTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type);
  auto& link = batch.link();
  if (is("counter.queue") || is("counter.eg_port")) {
    if (update.type != Update::DELETE || update.entry.has_key()) {
      throw cannot(
          "softswitch clears all counters of its traffic manager at once: DELETE without "
          "a key;");
    }
    return batch.add(WriteBatch::Act{[&link] { link.call("tm_clear", Json::object()); }}, what);
  }
  if (!is("sched_cfg") && !is("sched_shaping")) throw cannot("it can only be read;");
  if (update.type != Update::MODIFY) throw cannot("its entries are there already; use MODIFY;");
  const Shapers::Place place = place_of(update.entry.key(), update.target, what);
  const Json values = data_of(update.entry.data(), what, /*complete=*/false);
  is("sched_cfg") ? check_scheduling(values, place) : check_shaping(values);
  const auto set = [this, place, values, &link] {
    Shapers::Shaper shaper = shapers_.at(place);
    shaper.enabled = values.value("max_rate_enable", shaper.enabled);
    shaper.kbit_per_s = values.value("max_rate", shaper.kbit_per_s);
    shaper.burst_bytes = values.value("max_burst_size", shaper.burst_bytes);
    shaper.provisioning = values.value("provisioning", shaper.provisioning);
    shapers_.set(place, shaper, link);
  };
  batch.add(WriteBatch::Act{set}, what);
}

void QueueTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                          ReadAnswers& answers) {
  if (!read.entry.has_key()) throw cannot("entries are read one by one, with a key;");
  try {
    const Shapers::Place place = place_of(read.entry.key(), read.target, reading());
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    *entry.mutable_key() = read.entry.key();
    if (!read.key_only()) put_data(data_at(place, link), nullptr, read.entry.data(), entry);
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

Json QueueTable::data_at(Shapers::Place place, SwitchLink& link) {
  const auto [port, queue] = place;
  if (is("port.cfg")) {
    const std::uint32_t lane = port % kPortsPerGroup;
    Json own = Json::array();
    for (std::uint32_t i = 0; i < kQueuesPerPort; ++i) own.push_back(i);
    return {{"pg_id", port % dataplane::kPortsPerPipe / kPortsPerGroup},
            {"pg_port_nr", lane},
            {"port_queues_count", kQueuesPerPort},
            {"ingress_qid_map", own},
            {"egress_qid_queues", own}};
  }
  if (is("queue.map")) return {{"dev_port", port}, {"queue_nr", queue}};
  const Shapers::Shaper shaper = shapers_.at(place);
  if (is("sched_cfg")) {
    const std::string priority = std::to_string(queue);
    return {{"min_priority", "LOW"},
            {"min_rate_enable", false},
            {"dwrr_weight", kDefaultWeight},
            {"max_priority", priority},
            {"max_rate_enable", shaper.enabled},
            {"scheduling_enable", true},
            {"scheduling_speed", "BF_SPEED_NONE"}};
  }
  if (is("sched_shaping")) {
    return {{"unit", "BPS"},
            {"provisioning", shaper.provisioning},
            {"min_rate", 0},
            {"min_burst_size", 0},
            {"max_rate", shaper.kbit_per_s},
            {"max_burst_size", shaper.burst_bytes}};
  }
  const Json state = link.call("tm_read", {{"port", port}}).at("ports").at(0);
  Json counters = {{"drop_count_packets", 0U}, {"usage_cells", 0U}, {"watermark_cells", 0U}};
  for (const Json& each : state.at("queues")) {
    if (queue != Shapers::kWholePort && each.at("queue") != queue) continue;
    for (auto& [name, value] : counters.items())
      value = value.get<std::uint64_t>() + each.at(name).get<std::uint64_t>();
  }
  return counters;
}

bool FactTable::has_settings() const {
  return !std::ranges::all_of(table().data, &bfrt::Field::read_only);
}

void FactTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type, true);
  if (!has_settings()) throw cannot("it can only be read;");
  const bool resets = update.type == Update::DELETE || update.type == Update::RESET;
  if (!resets && update.type != Update::MODIFY)
    throw not_supported("the default entry can only be modified or reset table:" + table().name);
  if (update.entry.has_key()) throw cannot("it has no entry but the default one;");
  const Json values = resets ? first_ : data_of(update.entry.data(), what, /*complete=*/false);
  const auto set = [this, values] {
    const std::lock_guard lock(mutex_);
    now_.update(values);
  };
  batch.add(WriteBatch::Act{set}, what);
}

void FactTable::read_one(std::size_t number, const EntryRead& read, SwitchLink&,
                         ReadAnswers& answers) {
  bfrt_proto::TableEntry& entry = answers.add(number, read);
  entry.set_is_default_entry(true);
  const std::lock_guard lock(mutex_);
  put_data(now_, nullptr, read.entry.data(), entry);
}

}  // namespace turntable::bfrt_server
