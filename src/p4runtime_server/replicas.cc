#include "p4runtime_server/replicas.h"

#include <set>
#include <utility>

#include "p4runtime_server/bytestring.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::Replica;

constexpr const char* kGroups = "$pre.mgid";
constexpr const char* kGroupId = "$MGID";
constexpr const char* kNodes = "$pre.node";
constexpr const char* kNodeId = "$MULTICAST_NODE_ID";
constexpr const char* kInstance = "$MULTICAST_RID";
constexpr const char* kPorts = "$DEV_PORT";

// As TNA has them.
constexpr int kPortBits = 9;
constexpr int kInstanceBits = 16;
constexpr std::uint32_t kLastInstance = 0xFFFF;

// No two groups have a node in common.
std::uint32_t node_of(std::uint32_t group, std::uint32_t instance) {
  return group << kInstanceBits | instance;
}

std::uint32_t port_of(const Replica& replica, const std::string& what) {
  if (replica.has_port())
    return static_cast<std::uint32_t>(from_bytestring(replica.port(), kPortBits, what + ", port"));
  if (!replica.has_egress_port()) throw invalid(what + ": the port of a replica is missing");
  if (replica.egress_port() > all_ones(kPortBits))
    throw out_of_range(what + ": there is no port " + std::to_string(replica.egress_port()));
  return replica.egress_port();
}

}  // namespace

PortsByInstance ports_of(const Replicas& replicas, const std::string& what) {
  PortsByInstance ports;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const Replica& replica : replicas) {
    const std::uint32_t instance = replica.instance();
    if (instance > kLastInstance) {
      throw invalid(what + ": instance " + std::to_string(instance) + "; expected at most " +
                    std::to_string(kLastInstance));
    }
    if (!replica.backup_replicas().empty())
      throw not_supported(what + ": softswitch has no backup replicas");
    const std::uint32_t port = port_of(replica, what);
    if (!seen.emplace(port, instance).second) {
      throw invalid(what + ": port " + std::to_string(port) + " with instance " +
                    std::to_string(instance) + " is there twice");
    }
    ports[instance].push_back(port);
  }
  return ports;
}

bool says_egress_port(const Replicas& replicas) {
  return !replicas.empty() && replicas.Get(0).has_egress_port();
}

Json group_update(const char* operation, std::uint32_t group, const PortsByInstance& ports) {
  Json nodes = Json::array(), are_excluded = Json::array(), exclusions = Json::array();
  for (const auto& of_instance : ports) {
    nodes.push_back(node_of(group, of_instance.first));
    are_excluded.push_back(false);
    exclusions.push_back(0);
  }
  return {{"table", kGroups},
          {"op", operation},
          {"key", {{kGroupId, group}}},
          {"data",
           {{kNodeId, nodes},
            {"$MULTICAST_NODE_L1_XID_VALID", are_excluded},
            {"$MULTICAST_NODE_L1_XID", exclusions}}}};
}

void put_nodes(std::uint32_t group, const PortsByInstance& ports, Json& updates) {
  for (const auto& [instance, of_instance] : ports) {
    updates.push_back({{"table", kNodes},
                       {"op", "upsert"},
                       {"key", {{kNodeId, node_of(group, instance)}}},
                       {"data", {{kInstance, instance}, {kPorts, of_instance}}}});
  }
}

void remove_other_nodes(RunningProgram& program, std::uint32_t group, const PortsByInstance& ports,
                        Json& updates) {
  for (const auto& entry : read_entries(program, kNodes, kNodeId)) {
    const std::uint32_t node = entry.first;
    if (node >> kInstanceBits == group && !ports.contains(node & kLastInstance))
      updates.push_back({{"table", kNodes}, {"op", "delete"}, {"key", {{kNodeId, node}}}});
  }
}

void clear_groups(Json& updates) {
  for (const char* table : {kGroups, kNodes})
    updates.push_back({{"table", table}, {"op", "clear"}});
}

EntriesById read_entries(RunningProgram& program, const char* table, const char* key) {
  EntriesById entries;
  const Json result = program.link().call("table_read", {{"table", table}});
  for (const Json& entry : result.at("entries"))
    entries[entry.at("key").at(key).get<std::uint32_t>()] = entry.at("data");
  return entries;
}

FoundGroups::FoundGroups(RunningProgram& program)
    : groups_(read_entries(program, kGroups, kGroupId)),
      nodes_(read_entries(program, kNodes, kNodeId)) {}

void FoundGroups::put_replicas(std::uint32_t group, bool as_egress_port, Replicas& replicas) const {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  for (const Json& id : found->second.at(kNodeId)) {
    const auto node = nodes_.find(id.get<std::uint32_t>());
    // Another control plane may take a node away between the two reads.
    if (node == nodes_.end()) continue;
    for (const Json& port : node->second.at(kPorts))
      add_replica(port, node->second.at(kInstance), as_egress_port, replicas);
  }
}

void add_replica(std::uint32_t port, std::uint32_t instance, bool as_egress_port,
                 Replicas& replicas) {
  Replica& replica = *replicas.Add();
  replica.set_instance(instance);
  if (as_egress_port) {
    replica.set_egress_port(port);
  } else {
    replica.set_port(to_bytestring(port));
  }
}

}  // namespace turntable::p4runtime_server
