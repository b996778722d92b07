// The switch's ports as a port manager keeps them: which are added, how, and where on the front
// panel they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bfrt_server/switch_link.h"

namespace turntable::bfrt_server {

using DevPort = std::uint32_t;

// Places on the front panel: connector and channel, and the number behind them.
class PortMap {
 public:
  struct Place {
    std::uint32_t connector;
    std::uint32_t channel;
    DevPort port;

    std::string name() const { return std::to_string(connector) + "/" + std::to_string(channel); }
  };

  // 16 connectors of four lanes in each pipe, in order, then that of the CPU's lanes.
  static PortMap in_order(std::uint32_t pipes);
  // A JSON object from names to numbers, {"1/0": 132, …}: boards differ, and are not regular.
  // Throws std::runtime_error that names the file and what is wrong in it.
  static PortMap read(const std::filesystem::path& file);

  const std::vector<Place>& places() const { return places_; }
  const Place* of(DevPort port) const;

 private:
  std::vector<Place> places_;
};

// Thread-safe.
class Ports {
 public:
  using Json = nlohmann::json;

  // All of the switch's ports are added and enabled, as on a model; or none, as on an ASIC, but
  // for those that recirculate.
  enum class Begin : std::uint8_t { kAdded, kAbsent };

  Ports(SwitchLink& link, PortMap map, std::uint32_t pipes, Begin begin);

  const PortMap& map() const { return map_; }

  // Fields of $PORT by name, with those that cannot be written. Nothing: the port is not added.
  std::optional<Json> find(DevPort port, SwitchLink& link);
  std::map<DevPort, Json> all(SwitchLink& link);  // but for those that recirculate

  // `values`: fields of $PORT, checked for what softswitch cannot do. Throw Failure that begins
  // with `context`; CommandError of the switch.
  void add(DevPort port, const Json& values, const std::string& context, SwitchLink& link);
  void modify(DevPort port, const Json& values, const std::string& context, SwitchLink& link);
  void remove(DevPort port, SwitchLink& link);  // no internal one
  void remove_all(SwitchLink& link);

  // Whether the switch has it, added or not.
  bool exists(DevPort port) const { return is_internal(port) || interfaces_.contains(port); }
  static bool is_internal(DevPort port);
  // Of those of the switch that are added.
  std::map<DevPort, bool> up(SwitchLink& link);

 private:
  Json described(DevPort port, const Json& configured, const std::map<DevPort, bool>& links) const;
  std::map<DevPort, bool> links(SwitchLink& link) const;
  void apply(DevPort port, SwitchLink& link);

  PortMap map_;
  std::map<DevPort, std::string> interfaces_;  // of the switch's ports
  std::mutex mutex_;
  std::map<DevPort, Json> added_;  // fields that can be written
};

}  // namespace turntable::bfrt_server
