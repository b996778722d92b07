#include "bfrt_server/ports.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <stdexcept>

#include "bfrt_server/failure.h"
#include "dataplane/port_numbers.h"
#include "dataplane/replication.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kConnectorsPerPipe = 16;
constexpr std::uint32_t kLanes = 4;
constexpr std::uint32_t kFirstCpuPort = 64;

// What a port has that is only added.
const Json& defaults() {
  static const Json values = {{"$SPEED", "BF_SPEED_10G"},
                              {"$FEC", "BF_FEC_TYP_NONE"},
                              {"$N_LANES", 1},
                              {"$PORT_ENABLE", false},
                              {"$AUTO_NEGOTIATION", "PM_AN_DEFAULT"},
                              {"$LOOPBACK_MODE", "BF_LPBK_NONE"},
                              {"$TX_MTU", 10240},
                              {"$RX_MTU", 10240},
                              {"$TX_PFC_EN_MAP", 0},
                              {"$RX_PFC_EN_MAP", 0},
                              {"$TX_PAUSE_FRAME_EN", false},
                              {"$RX_PAUSE_FRAME_EN", false},
                              {"$CUT_THROUGH_EN", false},
                              {"$PORT_DIR", "PM_PORT_DIR_DEFAULT"}};
  return values;
}

// Those that softswitch has no part for: only the default is taken. Speed, FEC and negotiation are
// kept for who reads them: both ends of a veth pair always agree.
constexpr const char* kFixed[] = {"$LOOPBACK_MODE",     "$TX_MTU",         "$RX_MTU",
                                  "$TX_PFC_EN_MAP",     "$RX_PFC_EN_MAP",  "$TX_PAUSE_FRAME_EN",
                                  "$RX_PAUSE_FRAME_EN", "$CUT_THROUGH_EN", "$PORT_DIR"};

void check_possible(const Json& values, const std::string& context) {
  for (const char* name : kFixed) {
    const auto given = values.find(name);
    if (given == values.end() || *given == defaults().at(name)) continue;
    throw not_supported(context + ": " + name + " is " + given->dump() + ": softswitch only has " +
                        defaults().at(name).dump() + ";");
  }
}

std::uint32_t lanes_of(const std::string& speed) {
  if (speed == "BF_SPEED_100G" || speed.starts_with("BF_SPEED_40G")) return 4;
  return speed == "BF_SPEED_50G" ? 2 : 1;
}

PortMap::Place parse_place(const std::string& name, const Json& port,
                           const std::filesystem::path& file) {
  PortMap::Place place{};
  const char* const end = name.data() + name.size();
  const auto connector = std::from_chars(name.data(), end, place.connector);
  const bool has_channel =
      connector.ec == std::errc() && connector.ptr != end && *connector.ptr == '/';
  const auto channel = has_channel ? std::from_chars(connector.ptr + 1, end, place.channel)
                                   : std::from_chars_result{end, std::errc::invalid_argument};
  if (channel.ec != std::errc() || channel.ptr != end || !port.is_number_unsigned() || port > 511) {
    throw std::runtime_error(file.native() + ": \"" + name + "\": " + port.dump() +
                             "; expected \"CONNECTOR/CHANNEL\": a port from 0 to 511");
  }
  place.port = port.get<DevPort>();
  return place;
}

}  // namespace

PortMap PortMap::in_order(std::uint32_t pipes) {
  PortMap map;
  for (std::uint32_t i = 0; i < pipes * kConnectorsPerPipe; ++i) {
    const DevPort first =
        i / kConnectorsPerPipe * dataplane::kPortsPerPipe + i % kConnectorsPerPipe * kLanes;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      map.places_.push_back({i + 1, lane, first + lane});
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane)
    map.places_.push_back({pipes * kConnectorsPerPipe + 1, lane, kFirstCpuPort + lane});
  return map;
}

PortMap PortMap::read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream)
    throw std::runtime_error(
        file.native() + ": cannot be read; expected a JSON object in a file, {\"1/0\": 132, …}");
  const Json document = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object())
    throw std::runtime_error(file.native() + ": no JSON object; expected {\"1/0\": 132, …}");
  PortMap map;
  for (const auto& [name, port] : document.items())
    map.places_.push_back(parse_place(name, port, file));
  return map;
}

const PortMap::Place* PortMap::of(DevPort port) const {
  const auto found = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& place) { return place.port == port; });
  return found == places_.end() ? nullptr : &*found;
}

Ports::Ports(SwitchLink& link, PortMap map, std::uint32_t pipes, Begin begin)
    : map_(std::move(map)) {
  const Json info = link.call("info", Json::object());
  for (const Json& port : info.at("ports"))
    interfaces_[port.at("port").get<DevPort>()] = port.at("interface");
  Json enabled = defaults();
  enabled["$PORT_ENABLE"] = true;
  for (const auto& [port, interface] : interfaces_) {
    if (begin == Begin::kAdded) added_[port] = enabled;
    apply(port, link);
  }
  for (std::uint32_t pipe = 0; pipe < pipes; ++pipe) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      Json& port =
          added_[pipe * dataplane::kPortsPerPipe + dataplane::kFirstRecirculationPort + lane];
      port = enabled;
      port["$SPEED"] = "BF_SPEED_100G";
    }
  }
}

bool Ports::is_internal(DevPort port) {
  return dataplane::is_recirculation_port(static_cast<std::uint16_t>(port));
}

// Whether a port's link is up, by port.
std::map<DevPort, bool> Ports::links(SwitchLink& link) const {
  std::map<DevPort, bool> up;
  const Json info = link.call("info", Json::object());
  for (const Json& port : info.at("ports"))
    up[port.at("port").get<DevPort>()] = port.at("link") == "up";
  return up;
}

Json Ports::described(DevPort port, const Json& configured,
                      const std::map<DevPort, bool>& links) const {
  Json values = configured;
  const auto link = links.find(port);
  const bool has_link = is_internal(port) || (link != links.end() && link->second);
  const PortMap::Place* place = map_.of(port);
  values["$MEDIA_TYPE"] = "BF_MEDIA_TYPE_COPPER";
  values["$IS_VALID"] = true;
  values["$IS_INTERNAL"] = is_internal(port);
  values["$PORT_UP"] = has_link && configured.at("$PORT_ENABLE") == true;
  values["$CONN_ID"] = place == nullptr ? 0 : place->connector;
  values["$CHNL_ID"] = place == nullptr ? 0 : place->channel;
  values["$PORT_NAME"] = place == nullptr ? "" : place->name();
  return values;
}

std::optional<Json> Ports::find(DevPort port, SwitchLink& link) {
  const auto state = links(link);
  const std::lock_guard lock(mutex_);
  const auto found = added_.find(port);
  if (found == added_.end()) return std::nullopt;
  return described(port, found->second, state);
}

std::map<DevPort, Json> Ports::all(SwitchLink& link) {
  const auto state = links(link);
  const std::lock_guard lock(mutex_);
  std::map<DevPort, Json> ports;
  for (const auto& [port, configured] : added_)
    if (!is_internal(port)) ports[port] = described(port, configured, state);
  return ports;
}

std::map<DevPort, bool> Ports::up(SwitchLink& link) {
  std::map<DevPort, bool> up;
  for (const auto& [port, values] : all(link)) up[port] = values.at("$PORT_UP");
  return up;
}

// A port that is not added is not enabled.
void Ports::apply(DevPort port, SwitchLink& link) {
  if (!interfaces_.contains(port)) return;
  const auto found = added_.find(port);
  const bool enabled = found != added_.end() && found->second.at("$PORT_ENABLE") == true;
  link.call("port_enable", {{"port", port}, {"enabled", enabled}});
}

void Ports::add(DevPort port, const Json& values, const std::string& context, SwitchLink& link) {
  if (!values.contains("$SPEED") || !values.contains("$FEC"))
    throw invalid(context + ": a port is added with $SPEED and $FEC;");
  check_possible(values, context);
  const std::lock_guard lock(mutex_);
  if (const auto found = added_.find(port); found != added_.end()) {
    // An SDE says OK, and leaves speed and FEC as they were.
    const bool same = values.at("$SPEED") == found->second.at("$SPEED") &&
                      values.at("$FEC") == found->second.at("$FEC");
    if (!same)
      throw already_exists(context + ": port " + std::to_string(port) +
                           " with another speed or FEC;");
    found->second.update(values);
    return apply(port, link);
  }
  if (!interfaces_.contains(port)) {
    throw invalid(context + ": softswitch was not started with a port " + std::to_string(port) +
                  " (--port " + std::to_string(port) + "=INTERFACE);");
  }
  Json configured = defaults();
  configured["$N_LANES"] = lanes_of(values.at("$SPEED"));
  configured.update(values);
  added_[port] = std::move(configured);
  apply(port, link);
}

void Ports::modify(DevPort port, const Json& values, const std::string& context, SwitchLink& link) {
  check_possible(values, context);
  const std::lock_guard lock(mutex_);
  const auto found = added_.find(port);
  if (found == added_.end()) throw not_found(context + ": port " + std::to_string(port));
  if (is_internal(port)) throw invalid(context + ": an internal port cannot be changed;");
  if (values.contains("$SPEED") && values.at("$SPEED") != found->second.at("$SPEED")) {
    found->second["$N_LANES"] = lanes_of(values.at("$SPEED"));
  }
  found->second.update(values);
  apply(port, link);
}

void Ports::remove(DevPort port, SwitchLink& link) {
  const std::lock_guard lock(mutex_);
  added_.erase(port);
  apply(port, link);
}

void Ports::remove_all(SwitchLink& link) {
  const std::lock_guard lock(mutex_);
  std::erase_if(added_, [](const auto& entry) { return !is_internal(entry.first); });
  for (const auto& [port, interface] : interfaces_) apply(port, link);
}

}  // namespace turntable::bfrt_server
