#include "bfrt_driver/port_commands.h"

#include <nlohmann/json.hpp>

#include "bfrt_driver/entry_codec.h"

namespace turntable::bfrt_driver {
namespace {

using Json = nlohmann::json;
using From = SwitchCalls::From;

constexpr const char* kPort = "$DEV_PORT";

std::uint64_t port_of(const bfrt::Table& table, const bfrt_proto::TableEntry& entry) {
  return exact_key(table, kPort, entry);
}

Json described(const bfrt::Table& table, const bfrt_proto::TableEntry& entry) {
  const Json data = entry_of(table, entry).at("data");
  return {{"port", port_of(table, entry)},
          {"interface", data.value("$PORT_NAME", "")},
          {"link", data.value("$PORT_UP", false) ? "up" : "down"}};
}

}  // namespace

Json ports_of(SwitchCalls& calls) {
  const bfrt::Table& table = calls.schema().table("$PORT");
  Json ports = Json::array();
  for (const auto& entry : calls.read_all(table)) ports.push_back(described(table, entry));
  return ports;
}

Json port_stats(SwitchCalls& calls) {
  const bfrt::Table& table = calls.schema().table("$PORT_STAT");
  Json ports = ports_of(calls);
  if (ports.empty()) return {{"ports", std::move(ports)}};
  const auto put_key = [&](std::size_t i, bfrt_proto::TableEntry& entry) {
    set_key(table, kPort, ports[i].at("port"), entry);
  };
  for (const auto& entry : calls.read_some(table, ports.size(), put_key, From::kHardware)) {
    const Json counts = entry_of(table, entry).at("data");
    const auto count = [&](const char* name) { return counts.value(name, std::uint64_t{0}); };
    for (Json& port : ports) {
      if (port.at("port") != port_of(table, entry)) continue;
      port.update({{"rx_packets", count("$FramesReceivedOK")},
                   {"rx_bytes", count("$OctetsReceivedinGoodFrames")},
                   {"tx_packets", count("$FramesTransmittedOK")},
                   {"tx_bytes", count("$OctetsTransmittedwithouterror")},
                   {"drops",
                    {{"rx_queue_full", count("$FramesDroppedBufferFull")},
                     {"rx_error", count("$FrameswithanyError")},
                     {"tx_failed", count("$FramesTransmittedwithError")}}}});
    }
  }
  return {{"ports", std::move(ports)}};
}

Json port_stats_clear(SwitchCalls& calls) {
  auto request = SwitchCalls::write_request();
  new_update(request, calls.schema().table("$PORT_STAT"), bfrt_proto::Update::DELETE);
  calls.write(request);
  return Json::object();
}

}  // namespace turntable::bfrt_driver
