#include "p4runtime_server/replication_entries.h"

#include "p4runtime_server/operation.h"
#include "p4runtime_server/refusal.h"
#include "p4runtime_server/replicas.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::CloneSessionEntry;
using p4::v1::MulticastGroupEntry;
using p4::v1::PacketReplicationEngineEntry;
using p4::v1::Update;

constexpr const char* kSessions = "$mirror.cfg";
constexpr const char* kSessionId = "$sid";

// As TNA has them.
constexpr std::uint32_t kLastSession = 1023;
constexpr std::uint32_t kLastClass = 31;   // of 5 bits: the queue
constexpr std::int32_t kLongest = 0xFFFF;  // bytes that a session can say; 0: copies are whole

// A session copies to a group of its own, behind those of clients.
constexpr std::uint32_t kLastGroup = 0xFFFF - kLastSession - 1;

std::uint32_t group_of_session(std::uint32_t session) {
  return kLastGroup + 1 + session;
}

std::string name_of(const MulticastGroupEntry& entry) {
  PacketReplicationEngineEntry named;
  named.mutable_multicast_group_entry()->set_multicast_group_id(entry.multicast_group_id());
  return named.SerializeAsString();
}

std::string name_of(const CloneSessionEntry& entry) {
  PacketReplicationEngineEntry named;
  named.mutable_clone_session_entry()->set_session_id(entry.session_id());
  return named.SerializeAsString();
}

// Packets see the entry as it was, or as it will be. `name`: what its notes are found by.
SwitchUpdate with_notes(RunningProgram& program, Json updates, const std::string& name,
                        const EntryNotes& notes) {
  return {std::move(updates), [&program, name, notes] { program.note(name, notes); }, name};
}

SwitchUpdate write_multicast_group(RunningProgram& program, Update::Type type,
                                   const MulticastGroupEntry& entry) {
  const std::uint32_t group = entry.multicast_group_id();
  const std::string what = "multicast group " + std::to_string(group);
  const char* operation = operation_of(type);
  if (group == 0 || group > kLastGroup)
    throw invalid(what + "; expected 1 to " + std::to_string(kLastGroup));
  PortsByInstance ports;
  EntryNotes notes;
  if (type != Update::DELETE) {
    ports = ports_of(entry.replicas(), what);
    notes.metadata = entry.metadata();
    notes.says_egress_port = says_egress_port(entry.replicas());
  }
  Json updates = Json::array();
  updates.push_back(group_update(operation, group, ports));
  put_nodes(group, ports, updates);
  if (type != Update::INSERT) remove_other_nodes(program, group, ports, updates);
  return with_notes(program, std::move(updates), name_of(entry), notes);
}

Json session_update(const char* operation, const CloneSessionEntry& entry,
                    const std::string& what) {
  if (entry.class_of_service() > kLastClass) {
    throw invalid(what + ": class of service " + std::to_string(entry.class_of_service()) +
                  "; expected at most " + std::to_string(kLastClass));
  }
  const std::int32_t length = entry.packet_length_bytes();
  if (length < 0 || length > kLongest) {
    throw invalid(what + ": packet_length_bytes " + std::to_string(length) + "; expected 0 to " +
                  std::to_string(kLongest));
  }
  return {{"table", kSessions},
          {"op", operation},
          {"key", {{kSessionId, entry.session_id()}}},
          {"data",
           {{"$session_enable", true},
            {"$direction", "BOTH"},
            {"$ucast_egress_port_valid", false},
            {"$egress_port_queue", entry.class_of_service()},
            {"$mcast_grp_a", group_of_session(entry.session_id())},
            {"$mcast_grp_a_valid", true},
            {"$mcast_grp_b_valid", false},
            {"$mcast_rid", 0},
            {"$max_pkt_len", length}}}};
}

Json session_removal(RunningProgram& program, std::uint32_t session) {
  const std::uint32_t group = group_of_session(session);
  Json updates = Json::array();
  updates.push_back({{"table", kSessions}, {"op", "delete"}, {"key", {{kSessionId, session}}}});
  // A session that another control plane made has no such group.
  updates.push_back(group_update("upsert", group, {}));
  updates.push_back(group_update("delete", group, {}));
  remove_other_nodes(program, group, {}, updates);
  return updates;
}

SwitchUpdate write_clone_session(RunningProgram& program, Update::Type type,
                                 const CloneSessionEntry& entry) {
  const std::uint32_t session = entry.session_id();
  const std::string what = "clone session " + std::to_string(session);
  const char* operation = operation_of(type);
  if (session == 0 || session > kLastSession)
    throw invalid(what + "; expected 1 to " + std::to_string(kLastSession));
  if (type == Update::DELETE)
    return with_notes(program, session_removal(program, session), name_of(entry), {});
  const std::uint32_t group = group_of_session(session);
  const PortsByInstance ports = ports_of(entry.replicas(), what);
  Json updates = Json::array();
  updates.push_back(session_update(operation, entry, what));
  updates.push_back(group_update("upsert", group, ports));
  put_nodes(group, ports, updates);
  remove_other_nodes(program, group, ports, updates);
  EntryNotes notes;
  notes.says_egress_port = says_egress_port(entry.replicas());
  return with_notes(program, std::move(updates), name_of(entry), notes);
}

void read_multicast_groups(RunningProgram& program, const MulticastGroupEntry& wanted,
                           const Entities& found) {
  const FoundGroups groups(program);
  for (const auto& each : groups.groups()) {
    const std::uint32_t group = each.first;
    if (group > kLastGroup) break;  // those of sessions
    if (wanted.multicast_group_id() != 0 && wanted.multicast_group_id() != group) continue;
    p4::v1::Entity entity;
    MulticastGroupEntry& entry =
        *entity.mutable_packet_replication_engine_entry()->mutable_multicast_group_entry();
    entry.set_multicast_group_id(group);
    const EntryNotes notes = program.notes(name_of(entry));
    groups.put_replicas(group, notes.says_egress_port, *entry.mutable_replicas());
    entry.set_metadata(notes.metadata);
    found(std::move(entity));
  }
}

// Sessions of other control planes may have a unicast port, and two groups.
void put_session(const Json& data, const FoundGroups& groups, const EntryNotes& notes,
                 CloneSessionEntry& entry) {
  Replicas& replicas = *entry.mutable_replicas();
  if (data.at("$ucast_egress_port_valid"))
    add_replica(data.at("$ucast_egress_port"), 0, notes.says_egress_port, replicas);
  if (data.at("$mcast_grp_a_valid"))
    groups.put_replicas(data.at("$mcast_grp_a"), notes.says_egress_port, replicas);
  if (data.at("$mcast_grp_b_valid"))
    groups.put_replicas(data.at("$mcast_grp_b"), notes.says_egress_port, replicas);
  entry.set_class_of_service(data.at("$egress_port_queue"));
  entry.set_packet_length_bytes(data.at("$max_pkt_len"));
}

void read_clone_sessions(RunningProgram& program, const CloneSessionEntry& wanted,
                         const Entities& found) {
  const EntriesById sessions = read_entries(program, kSessions, kSessionId);
  const FoundGroups groups(program);
  for (const auto& [session, data] : sessions) {
    if (wanted.session_id() != 0 && wanted.session_id() != session) continue;
    p4::v1::Entity entity;
    CloneSessionEntry& entry =
        *entity.mutable_packet_replication_engine_entry()->mutable_clone_session_entry();
    entry.set_session_id(session);
    put_session(data, groups, program.notes(name_of(entry)), entry);
    found(std::move(entity));
  }
}

Refusal no_kind() {
  return invalid("an entry of the replication engine is a multicast group or a clone session");
}

}  // namespace

SwitchUpdate write_replication(RunningProgram& program, Update::Type type,
                               const PacketReplicationEngineEntry& entry) {
  switch (entry.type_case()) {
    case PacketReplicationEngineEntry::kMulticastGroupEntry:
      return write_multicast_group(program, type, entry.multicast_group_entry());
    case PacketReplicationEngineEntry::kCloneSessionEntry:
      return write_clone_session(program, type, entry.clone_session_entry());
    default:
      throw no_kind();
  }
}

void read_replication(RunningProgram& program, const PacketReplicationEngineEntry& wanted,
                      const Entities& found) {
  switch (wanted.type_case()) {
    case PacketReplicationEngineEntry::kMulticastGroupEntry:
      return read_multicast_groups(program, wanted.multicast_group_entry(), found);
    case PacketReplicationEngineEntry::kCloneSessionEntry:
      return read_clone_sessions(program, wanted.clone_session_entry(), found);
    default:
      throw no_kind();
  }
}

Json replication_clears() {
  Json updates = Json::array();
  clear_groups(updates);
  updates.push_back({{"table", kSessions}, {"op", "clear"}});
  return updates;
}

}  // namespace turntable::p4runtime_server
