#include "dataplane/replication.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::dataplane {
namespace {

std::uint16_t number(const nlohmann::json& data, const char* name) {
  return data.at(name).get<std::uint16_t>();
}

Replication::Session session_of(const nlohmann::json& data) {
  Replication::Session session;
  session.ingress = data.at("$direction") != "EGRESS";
  session.egress = data.at("$direction") != "INGRESS";
  session.has_port = data.at("$ucast_egress_port_valid");
  session.port = number(data, "$ucast_egress_port");
  session.qid = data.at("$egress_port_queue").get<std::uint8_t>();
  if (data.at("$mcast_grp_a_valid")) session.groups[0] = number(data, "$mcast_grp_a");
  if (data.at("$mcast_grp_b_valid")) session.groups[1] = number(data, "$mcast_grp_b");
  session.rid = number(data, "$mcast_rid");
  const std::uint32_t longest = data.at("$max_pkt_len");
  session.max_length = longest == 0 ? kMaxFrame : longest;  // as bf_rt_mirror_table_impl.cpp has it
  return session;
}

}  // namespace

void Replication::configure(const FixedTables::State& tables) {
  Replication next;
  const auto& nodes = tables.at("$pre.node");
  for (const auto& [group, data] : tables.at("$pre.mgid")) {
    const auto& ids = data.at("$MULTICAST_NODE_ID");
    const auto& valid = data.at("$MULTICAST_NODE_L1_XID_VALID");
    const auto& exclusions = data.at("$MULTICAST_NODE_L1_XID");
    if (valid.size() != ids.size() || exclusions.size() != ids.size()) {
      throw bad_argument("table $pre.mgid, group " + std::to_string(group) +
                         ": its three lists differ in length; expected one value per node in each");
    }
    auto& members = next.groups_[static_cast<std::uint16_t>(group)];
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto node = nodes.find(ids[i].get<std::uint64_t>());
      if (node == nodes.end()) {
        throw CommandError("not_found", "table $pre.mgid, group " + std::to_string(group) +
                                            ": node " + ids[i].dump() +
                                            " is not in $pre.node; write nodes before groups, and "
                                            "delete groups before nodes");
      }
      if (!node->second.at("$MULTICAST_LAG_ID").empty()) {
        throw bad_argument("table $pre.node, node " + ids[i].dump() +
                           ": $MULTICAST_LAG_ID must be empty; this switch has no link aggregation "
                           "groups, list ports in $DEV_PORT");
      }
      for (const auto& port : node->second.at("$DEV_PORT")) {
        members.push_back({port, number(node->second, "$MULTICAST_RID"), valid[i], exclusions[i]});
      }
    }
  }
  for (const auto& [id, data] : tables.at("$pre.prune")) {
    for (const auto& port : data.at("$DEV_PORT"))
      next.pruned_ports_[static_cast<std::uint16_t>(id)].insert(port.get<std::uint16_t>());
  }
  for (const auto& [port, data] : tables.at("$pre.port")) {
    if (!data.at("$COPY_TO_CPU_PORT_ENABLE")) continue;
    if (next.copies_to_cpu()) throw bad_argument("table $pre.port: more than one port for copies");
    next.cpu_port_ = static_cast<std::uint16_t>(port);
  }
  for (const auto& [key, data] : tables.at(kDeviceConfig))
    next.global_rid_ = number(data, kGlobalRid);
  for (const auto& [id, data] : tables.at("$mirror.cfg")) {
    if (data.at("$session_enable"))
      next.sessions_[static_cast<std::uint16_t>(id)] = session_of(data);
  }
  *this = std::move(next);
}

void Replication::copies_of(const Packet& packet, std::vector<Copy>& copies) const {
  copies.clear();
  if ((packet.drop_ctl & kDropFrame) == 0) {
    if (packet.has_ucast_egress_port)
      copies.push_back({packet.ucast_egress_port, 0, packet.qid, packet.bypass_egress});
    add_group(packet.mcast_grp_a, packet, copies);
    add_group(packet.mcast_grp_b, packet, copies);
  }
  const bool to_cpu = packet.copy_to_cpu && (packet.drop_ctl & kDropCopyToCpu) == 0;
  if (to_cpu && copies_to_cpu()) copies.push_back({cpu_port_, 0, packet.qid, packet.bypass_egress});
}

const Replication::Session* Replication::mirror_copies(const MirrorCopy& mirror, bool from_ingress,
                                                       std::vector<Copy>& copies) const {
  copies.clear();
  const auto found = sessions_.find(mirror.session);
  if (found == sessions_.end()) return nullptr;
  const Session& session = found->second;
  if (!(from_ingress ? session.ingress : session.egress)) return nullptr;
  Packet packet;
  packet.has_ucast_egress_port = session.has_port;
  packet.ucast_egress_port = session.port;
  packet.qid = session.qid;
  packet.mcast_grp_a = session.groups[0];
  packet.mcast_grp_b = session.groups[1];
  packet.rid = session.rid;
  copies_of(packet, copies);
  return &session;
}

void Replication::add_group(std::uint16_t group, const Packet& packet,
                            std::vector<Copy>& copies) const {
  if (group == 0) return;
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  const auto first_copy = static_cast<std::ptrdiff_t>(copies.size());
  for (const Member& member : found->second) {
    if (pruned(member, packet)) continue;
    const auto has_rid = [&](const Copy& copy) { return copy.rid == member.rid; };
    const bool is_first = std::none_of(copies.begin() + first_copy, copies.end(), has_rid);
    copies.push_back({member.port, member.rid, packet.qid, packet.bypass_egress, is_first});
  }
}

// Level 1: a node whose exclusion id is the packet's. Level 2: where the node's rid is the
// packet's, or the packet has the global rid, the ports that the packet's exclusion id stands for.
bool Replication::pruned(const Member& member, const Packet& packet) const {
  if (member.has_exclusion && member.exclusion_id == packet.level1_exclusion_id) return true;
  if (member.rid != packet.rid && packet.rid != global_rid_) return false;
  const auto ports = pruned_ports_.find(packet.level2_exclusion_id);
  return ports != pruned_ports_.end() && ports->second.contains(member.port);
}

std::uint32_t write_mirror_copy(const MirrorCopy& copy, const Packet& frame,
                                std::uint32_t max_length, std::uint8_t* buffer) {
  const std::uint32_t limit = std::min(max_length, kMaxFrame);
  std::uint32_t length = 0;
  const auto append = [&](const std::uint8_t* bytes, std::uint32_t count) {
    const std::uint32_t taken = std::min(count, limit - length);
    std::memcpy(buffer + length, bytes, taken);
    length += taken;
  };
  append(copy.header.data(), copy.header_length);
  append(copy.front.data(), copy.front_length);
  append(frame.data + frame.length - copy.tail_length, copy.tail_length);
  return length;
}

}  // namespace turntable::dataplane
