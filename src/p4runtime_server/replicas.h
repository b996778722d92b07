// Replicas of packets as softswitch has them: a multicast group is a list of nodes, here one for
// each instance among its replicas, with the ports of that instance.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/running_program.h"

namespace turntable::p4runtime_server {

using Replicas = google::protobuf::RepeatedPtrField<p4::v1::Replica>;
using PortsByInstance = std::map<std::uint32_t, nlohmann::json::array_t>;

// Throws Refusal, whose text begins with `what`: INVALID_ARGUMENT an instance that is too large, a
// pair of port and instance that is there twice, and no port; OUT_OF_RANGE a port that is too
// large; UNIMPLEMENTED backup replicas.
PortsByInstance ports_of(const Replicas& replicas, const std::string& what);

// Whether they have their ports in the deprecated field.
bool says_egress_port(const Replicas& replicas);

// Elements of table_write's "updates": a group with its nodes.
nlohmann::json group_update(const char* operation, std::uint32_t group,
                            const PortsByInstance& ports);
void put_nodes(std::uint32_t group, const PortsByInstance& ports, nlohmann::json& updates);
// Of other instances, which the group had before.
void remove_other_nodes(RunningProgram& program, std::uint32_t group, const PortsByInstance& ports,
                        nlohmann::json& updates);

void clear_groups(nlohmann::json& updates);

// Data by number.
using EntriesById = std::map<std::uint32_t, nlohmann::json>;

// Of one of softswitch's own tables, whose key is one number.
EntriesById read_entries(RunningProgram& program, const char* table, const char* key);

// The groups that softswitch has now.
class FoundGroups {
 public:
  explicit FoundGroups(RunningProgram& program);

  const EntriesById& groups() const { return groups_; }
  // Nothing where there is no such group.
  void put_replicas(std::uint32_t group, bool as_egress_port, Replicas& replicas) const;

 private:
  EntriesById groups_;
  EntriesById nodes_;
};

void add_replica(std::uint32_t port, std::uint32_t instance, bool as_egress_port,
                 Replicas& replicas);

}  // namespace turntable::p4runtime_server
