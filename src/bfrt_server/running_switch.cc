#include "bfrt_server/running_switch.h"

#include <nlohmann/json.hpp>

#include "bfrt_server/fixed_schema.h"
#include "bfrt_server/hash_tables.h"
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

// Pipes with states of their own are those that there are.
PipesShown pipes_shown(const SwitchOptions& options) {
  SwitchLink link(options.directory, options.name);
  const std::uint32_t states = link.call("info", Json::object()).value("pipes", 1U);
  return states > 1 ? PipesShown{states, true} : PipesShown{options.pipes, false};
}

PortMap port_map(const SwitchOptions& options, std::uint32_t pipes) {
  return options.port_map ? *options.port_map : PortMap::in_order(pipes);
}

std::shared_ptr<Ports> ports_of(const SwitchOptions& options, std::uint32_t pipes) {
  SwitchLink link(options.directory, options.name);
  return std::make_shared<Ports>(link, port_map(options, pipes), pipes, options.ports);
}

}  // namespace

RunningSwitch::RunningSwitch(const SwitchOptions& options)
    : RunningSwitch(options, pipes_shown(options)) {}

RunningSwitch::RunningSwitch(const SwitchOptions& options, PipesShown pipes)
    : RunningSwitch(options, pipes, ports_of(options, pipes.count), std::make_shared<Shapers>()) {}

RunningSwitch::RunningSwitch(const SwitchOptions& options, const RunningSwitch& before)
    : RunningSwitch(options, before.pipes_, before.ports_, before.shapers_) {}

RunningSwitch::RunningSwitch(const SwitchOptions& options, PipesShown pipes,
                             std::shared_ptr<Ports> ports, std::shared_ptr<Shapers> shapers)
    : pipes_(pipes),
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
    access = std::make_unique<RegisterTable>(table, pipes_, link_);
  } else if (table.type == "Counter") {
    access = std::make_unique<CounterTable>(table, pipes_, link_);
  } else if (table.type == "Meter") {
    access = std::make_unique<MeterTable>(table, pipes_, link_);
  } else if (table.type == "Lpf" || table.type == "Wred") {
    access = std::make_unique<FilterTable>(table, pipes_, link_);
  } else if (table.type == "RegisterParam") {
    access = std::make_unique<RegisterParamTable>(table, pipes_, link_);
  } else if (table.type == "DynHashConfigure") {
    access = std::make_unique<HashConfigureTable>(table);
  } else if (table.type == "DynHashAlgorithm") {
    access = std::make_unique<HashAlgorithmTable>(table);
  } else if (table.type == "DynHashCompute") {
    access = std::make_unique<HashComputeTable>(table);
  } else if (table.type == "SelectorGetMember") {
    access = std::make_unique<SelectorMemberTable>(table, pipes_);
  } else {
    access = std::make_unique<MatchTable>(table, pipes_, link_);
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
    access = std::make_unique<PacketGeneratorTable>(table, pipes_.count);
  } else {
    access = std::make_unique<QueueTable>(table, *ports_, *shapers_, pipes_.count);
  }
}

Json RunningSwitch::device_facts() const {
  Json recirculation = Json::array();
  for (std::uint32_t pipe = 0; pipe < pipes_.count; ++pipe) {
    for (std::uint32_t lane = 0; lane < 4; ++lane)
      recirculation.push_back(pipe * dataplane::kPortsPerPipe + dataplane::kFirstRecirculationPort +
                              lane);
  }
  Json external = Json::array();
  for (const PortMap::Place& place : ports_->map().places()) external.push_back(place.port);
  return {{"sku", "UNKNOWN"},
          {"num_pipes", pipes_.count},
          {"num_stages", kStages},
          {"num_max_ports", pipes_.count * 72},
          {"num_front_ports", ports_->map().places().size()},
          {"internal_port_list", recirculation},
          {"pcie_cpu_port", pipes_.count == 4 ? 320 : 192},
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
