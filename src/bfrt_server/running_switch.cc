#include "bfrt_server/running_switch.h"

#include <nlohmann/json.hpp>

#include "bfrt_server/fixed_schema.h"
#include "bfrt_server/indexed_tables.h"
#include "bfrt_server/match_table.h"
#include "bfrt_server/packet_generator_table.h"
#include "bfrt_server/port_tables.h"
#include "bfrt_server/replication_table.h"
#include "bfrt_server/selector_member_table.h"
#include "dataplane/port_numbers.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;

constexpr int kStages = 12;
constexpr int kCellBytes = 80;

PortMap port_map(const SwitchOptions& options) {
  return options.port_map ? PortMap::read(*options.port_map) : PortMap::in_order(options.pipes);
}

std::shared_ptr<Ports> ports_of(const SwitchOptions& options) {
  SwitchLink link(options.directory, options.name);
  return std::make_shared<Ports>(link, port_map(options), options.pipes, options.ports);
}

}  // namespace

RunningSwitch::RunningSwitch(const SwitchOptions& options)
    : RunningSwitch(options, ports_of(options), std::make_shared<Shapers>()) {}

RunningSwitch::RunningSwitch(const SwitchOptions& options, const RunningSwitch& before)
    : RunningSwitch(options, before.ports_, before.shapers_) {}

RunningSwitch::RunningSwitch(const SwitchOptions& options, std::shared_ptr<Ports> ports,
                             std::shared_ptr<Shapers> shapers)
    : options_(options),
      link_(options.directory, options.name),
      ports_(std::move(ports)),
      shapers_(std::move(shapers)),
      facts_(link_.bind_program()),
      program_schema_text_(link_.call("schema", Json::object()).dump()),
      fixed_schema_text_(bfrt_server::fixed_schema().dump()),
      schema_(Json::parse(program_schema_text_)),
      fixed_schema_(Json::parse(fixed_schema_text_)) {
  for (const bfrt::Table& table : schema_.tables()) add_program_table(table);
  for (const bfrt::Table& table : fixed_schema_.tables()) add_fixed_table(table);
}

void RunningSwitch::add_program_table(const bfrt::Table& table) {
  auto& access = tables_[table.id];
  if (table.type == "Register") {
    access = std::make_unique<RegisterTable>(table, options_.pipes, link_);
  } else if (table.type == "Counter") {
    access = std::make_unique<CounterTable>(table);
  } else if (table.type == "Meter") {
    access = std::make_unique<MeterTable>(table);
  } else if (table.type == "Lpf" || table.type == "Wred") {
    access = std::make_unique<FilterTable>(table);
  } else if (table.type == "RegisterParam") {
    access = std::make_unique<RegisterParamTable>(table);
  } else if (table.type == "SelectorGetMember") {
    access = std::make_unique<SelectorMemberTable>(table);
  } else {
    access = std::make_unique<MatchTable>(table, options_.pipes);
  }
}

void RunningSwitch::add_fixed_table(const bfrt::Table& table) {
  auto& access = tables_[table.id];
  const std::string& name = table.name;
  if (name == "$PORT") {
    access = std::make_unique<PortTable>(table, *ports_);
  } else if (name == "$PORT_STAT") {
    access = std::make_unique<PortCounterTable>(table, *ports_);
  } else if (name.starts_with("$PORT_")) {
    access = std::make_unique<PortPlaceTable>(table, *ports_);
  } else if (name.starts_with('$')) {
    access = std::make_unique<ReplicationTable>(table);
  } else if (name == "tf1.tm.cfg") {
    access = std::make_unique<FactTable>(table, Json{{"cell_size_bytes", kCellBytes}});
  } else if (name == "tf1.dev.device_configuration") {
    access = std::make_unique<FactTable>(table, device_facts());
  } else if (name.starts_with("tf1.pktgen.")) {
    access = std::make_unique<PacketGeneratorTable>(table, options_.pipes);
  } else {
    access = std::make_unique<QueueTable>(table, *ports_, *shapers_, options_.pipes);
  }
}

Json RunningSwitch::device_facts() const {
  Json recirculation = Json::array();
  for (std::uint32_t pipe = 0; pipe < options_.pipes; ++pipe) {
    for (std::uint32_t lane = 0; lane < 4; ++lane)
      recirculation.push_back(pipe * dataplane::kPortsPerPipe + dataplane::kFirstRecirculationPort +
                              lane);
  }
  Json external = Json::array();
  for (const PortMap::Place& place : ports_->map().places()) external.push_back(place.port);
  return {{"sku", "UNKNOWN"},
          {"num_pipes", options_.pipes},
          {"num_stages", kStages},
          {"num_max_ports", options_.pipes * 72},
          {"num_front_ports", ports_->map().places().size()},
          {"internal_port_list", recirculation},
          {"pcie_cpu_port", options_.pipes == 4 ? 320 : 192},
          {"eth_cpu_port_list", {64, 65, 66, 67}},
          {"external_port_list", external},
          {"recirc_port_list", recirculation},
          {"intr_based_link_monitoring", false},
          {"flow_learn_intr_mode", false},
          {"lrt_dr_timeout_usec", 0U},
          {"flow_learn_timeout_usec", 500U},
          {"inactive_node_delete", false},
          {"selector_member_order", false}};
}

TableAccess* RunningSwitch::table(std::uint32_t id) const {
  const auto found = tables_.find(id);
  return found == tables_.end() ? nullptr : found->second.get();
}

const bfrt::Table* RunningSwitch::described(const std::string& name) const {
  const bfrt::Table* table = schema_.table(name);
  return table != nullptr ? table : fixed_schema_.table(name);
}

}  // namespace turntable::bfrt_server
