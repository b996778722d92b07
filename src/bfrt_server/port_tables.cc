#include "bfrt_server/port_tables.h"

#include <nlohmann/json.hpp>

#include "bfrt_server/write_batch.h"
#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using bfrt_proto::Update;

constexpr const char* kDevPort = "$DEV_PORT";

// Fields of $PORT_STAT and what softswitch counts.
constexpr std::pair<const char*, const char*> kCounters[] = {
    {"$FramesReceivedOK", "rx_packets"},
    {"$FramesReceivedAll", "rx_packets"},
    {"$OctetsReceivedinGoodFrames", "rx_bytes"},
    {"$OctetsReceived", "rx_bytes"},
    {"$FramesTransmittedOK", "tx_packets"},
    {"$FramesTransmittedAll", "tx_packets"},
    {"$OctetsTransmittedwithouterror", "tx_bytes"},
    {"$OctetsTransmittedTotal", "tx_bytes"}};

Json counted(const Json& port) {
  Json values = Json::object();
  for (const auto& [field, counter] : kCounters) values[field] = port.at(counter);
  const Json& drops = port.at("drops");
  values["$FramesReceivedwithFCSError"] = 0;  // such frames do not get as far as a socket
  values["$FramesDroppedBufferFull"] = drops.at("rx_queue_full");
  values["$FrameTooLong"] = drops.at("rx_oversize");
  values["$FramesReceivedOversized"] = drops.at("rx_oversize");
  values["$FramesTransmittedwithError"] =
      drops.at("tx_failed").get<std::uint64_t>() + drops.at("tx_oversize").get<std::uint64_t>();
  return values;
}

}  // namespace

void PortTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type);
  auto& link = batch.link();
  if (update.type == Update::DELETE && !update.entry.has_key()) {
    const auto clear = [this, &link] { ports_.remove_all(link); };
    return batch.add(WriteBatch::Act{clear, /*is_sure=*/true}, what);
  }
  if (!update.entry.has_key()) throw invalid("Table key cannot be empty table:" + table().name);
  const auto port = key_of(update.entry.key(), what).at(kDevPort).get<DevPort>();
  if (update.type == Update::DELETE) {
    if (Ports::is_internal(port)) throw invalid(what + ": an internal port cannot be deleted;");
    const auto remove = [=, this, &link] { ports_.remove(port, link); };
    return batch.add(WriteBatch::Act{remove, /*is_sure=*/true}, what);
  }
  const Json values = data_of(update.entry.data(), what, /*complete=*/false);
  std::function<void()> run;
  switch (update.type) {
    case Update::INSERT:
      run = [=, this, &link] { ports_.add(port, values, what, link); };
      break;
    case Update::MODIFY:
      run = [=, this, &link] { ports_.modify(port, values, what, link); };
      break;
    case Update::INSERT_OR_MODIFY:
      run = [=, this, &link] {
        ports_.find(port, link) ? ports_.modify(port, values, what, link)
                                : ports_.add(port, values, what, link);
      };
      break;
    default:
      throw cannot("no such update;");
  }
  batch.add(WriteBatch::Act{std::move(run)}, what);
}

void PortTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                         ReadAnswers& answers) {
  try {
    std::map<DevPort, Json> found;
    if (read.entry.has_key()) {
      const auto port = key_of(read.entry.key(), reading()).at(kDevPort).get<DevPort>();
      const auto values = ports_.find(port, link);
      if (!values) throw not_found(reading());
      found[port] = *values;
    } else {
      found = ports_.all(link);
    }
    for (const auto& [port, values] : found) {
      bfrt_proto::TableEntry& entry = answers.add(number, read);
      put_key({{kDevPort, port}}, entry);
      if (!read.key_only()) put_data(values, nullptr, read.entry.data(), entry);
    }
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

std::uint32_t PortTable::usage(const bfrt_proto::TargetDevice&, SwitchLink& link) {
  return static_cast<std::uint32_t>(ports_.all(link).size());
}

// Zeros only: they clear the counters of the port.
void PortCounterTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type);
  auto& link = batch.link();
  Json args = Json::object();
  if (update.entry.has_key()) {
    args["port"] = key_of(update.entry.key(), what).at(kDevPort);
    const auto port = args.at("port").get<DevPort>();
    if (!ports_.exists(port)) throw not_found(what + ": port " + std::to_string(port));
  } else if (update.type != Update::DELETE) {
    throw invalid("Table key cannot be empty table:" + table().name);
  }
  if (update.type == Update::INSERT) throw cannot("counters are there; use MODIFY;");
  if (update.type != Update::MODIFY && update.type != Update::DELETE)
    throw cannot("no such update;");
  const Json values = data_of(update.entry.data(), what, /*complete=*/false);
  for (const auto& [name, value] : values.items()) {
    if (value != 0) throw cannot(name + ": counters can only be set to 0;");
  }
  batch.add(WriteBatch::Act{[args, &link] { link.call("port_stats_clear", args); }}, what);
}

void PortCounterTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                                ReadAnswers& answers) {
  try {
    const bool one = read.entry.has_key();
    const DevPort wanted =
        one ? key_of(read.entry.key(), reading()).at(kDevPort).get<DevPort>() : 0;
    const auto added = ports_.all(link);
    if (one && !added.contains(wanted)) throw not_found(reading());
    std::map<DevPort, Json> counters;
    const Json stats = link.call("port_stats", Json::object());
    for (const Json& port : stats.at("ports"))
      counters[port.at("port").get<DevPort>()] = counted(port);
    for (const auto& [port, unused] : added) {
      if (one && port != wanted) continue;
      bfrt_proto::TableEntry& entry = answers.add(number, read);
      put_key({{kDevPort, port}}, entry);
      Json values = counters.contains(port) ? counters.at(port) : Json::object();
      if (!counters.contains(port)) {
        for (const auto& [field, counter] : kCounters) values[field] = 0;
      }
      if (!read.key_only()) put_data(values, nullptr, read.entry.data(), entry);
    }
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

void PortPlaceTable::write(const EntryWrite&, WriteBatch&) {
  throw cannot("it can only be read;");
}

void PortPlaceTable::read_one(std::size_t number, const EntryRead& read, SwitchLink&,
                              ReadAnswers& answers) {
  if (read.from_hw()) throw cannot("it is not read from hardware; leave from_hw out;");
  const bool one = read.entry.has_key();
  const Json wanted = one ? key_of(read.entry.key(), reading()) : Json();
  bool found = false;
  std::uint32_t position = 0;
  for (const PortMap::Place& place : ports_.map().places()) {
    ++position;
    Json key;
    if (table().name == "$PORT_STR_INFO") {
      key = {{"$PORT_NAME", place.name()}};
    } else if (table().name == "$PORT_HDL_INFO") {
      key = {{"$CONN_ID", place.connector}, {"$CHNL_ID", place.channel}};
    } else {
      key = {{"$FP_IDX", position}};
    }
    if (one && key != wanted) continue;
    found = true;
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    put_key(key, entry);
    if (!read.key_only()) put_data({{kDevPort, place.port}}, nullptr, read.entry.data(), entry);
  }
  if (one && !found) throw not_found(reading());
}

}  // namespace turntable::bfrt_server
