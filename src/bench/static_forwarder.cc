// The least a program can do, as a stand-in for a compiled P4 program: forwards by destination
// address.
//
// Used to measure the switch itself, and to test it with a real shared library. Control command:
// `forward {"mac": "02:00:00:00:00:01", "port": 1}`.
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "common/command_error.h"
#include "dataplane/control.h"
#include "dataplane/program.h"

namespace turntable::bench {
namespace {

constexpr std::uint32_t kMacBytes = 6;

std::uint64_t mac_of(const std::uint8_t* bytes) {
  std::uint64_t mac = 0;
  std::memcpy(&mac, bytes, kMacBytes);
  return mac;
}

std::uint64_t parse_mac(const std::string& text) {
  std::array<unsigned, kMacBytes> parts{};
  char rest = 0;
  const int fields = std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%c", &parts[0], &parts[1],
                                 &parts[2], &parts[3], &parts[4], &parts[5], &rest);
  if (fields != kMacBytes)
    throw bad_argument("forward: \"mac\" is \"" + text + "\": expected 02:00:00:00:00:01");
  std::array<std::uint8_t, kMacBytes> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(parts[i]);
  return mac_of(bytes.data());
}

class StaticForwarder : public dataplane::Program, public dataplane::ControlPlane {
 public:
  std::string_view name() const override { return "static_forwarder"; }
  std::string_view bfrt_json() const override { return "{}"; }
  dataplane::ControlPlane& control() override { return *this; }
  std::vector<std::string> commands() const override { return {"forward"}; }

  nlohmann::json execute(std::string_view, const nlohmann::json& args) override {
    if (!args.contains("mac") || !args.contains("port"))
      throw bad_argument("forward: expected {\"mac\": TEXT, \"port\": NUMBER}");
    port_of_[parse_mac(args["mac"].get<std::string>())] = args["port"].get<std::uint16_t>();
    return nlohmann::json::object();
  }

  nlohmann::json read_state() override { return {}; }
  void take_state(const nlohmann::json&) override {}

  void ingress(dataplane::Packet& packet) override {
    if (packet.length < kMacBytes) return;
    const auto port = port_of_.find(mac_of(packet.data));
    if (port == port_of_.end()) return;
    packet.has_ucast_egress_port = true;
    packet.ucast_egress_port = port->second;
  }
  void egress(dataplane::Packet&) override {}

 private:
  std::unordered_map<std::uint64_t, std::uint16_t> port_of_;
};

}  // namespace
}  // namespace turntable::bench

extern "C" {
std::uint32_t turntable_program_abi() {
  return turntable::dataplane::kProgramAbi;
}
turntable::dataplane::Program* turntable_program_create() {
  return new turntable::bench::StaticForwarder();
}
}
