// The members of a selector's group: their weights, and the ports that they depend on.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "p4/v1/p4runtime.pb.h"

namespace turntable::bfrt_server {
class SwitchLink;
}

namespace turntable::p4runtime_server {

struct GroupMember {
  std::uint32_t id;
  std::uint32_t weight;               // it is chosen as if it were there so many times
  std::optional<std::uint32_t> port;  // while it is down the member is not chosen
  bool says_watch = false;            // clients have the port in the field `watch`, which is older
};
using GroupMembers = std::vector<GroupMember>;

// Those of a group that are chosen now.
struct WatchedGroup {
  GroupMembers members;
  std::vector<bool> active;
};

// By number, whether the port passes frames: it is enabled, and its link is up.
using PortStates = std::map<std::uint32_t, bool>;

// Throws CommandError.
PortStates port_states(bfrt_server::SwitchLink& link);

// The weight and the port of a member or of an action of a one-shot set. Throws Refusal
// INVALID_ARGUMENT, whose text begins with `what`.
GroupMember group_member(const p4::v1::ActionProfileGroup::Member& given, const std::string& what);
GroupMember group_member(const p4::v1::ActionProfileAction& given, std::uint32_t id,
                         const std::string& what);

// With the members that are active as the ports are now. Throws Refusal INVALID_ARGUMENT for a port
// that the switch has not.
WatchedGroup watched_group(GroupMembers members, bfrt_server::SwitchLink& link,
                           const std::string& what);
std::vector<bool> active_members(const GroupMembers& members, const PortStates& ports);

// The fields of a group for softswitch.
nlohmann::json group_fields(const WatchedGroup& group);

// Those of a group that has been written so, where softswitch's entry has the same members: with
// the states that it has of members without a port. null: another control plane has changed or
// deleted it. `entry`: of table_read, or null.
nlohmann::json fields_if_still_there(const WatchedGroup& group, const nlohmann::json& entry);

// As the client has written it.
void put_watch(const GroupMember& member, p4::v1::ActionProfileGroup::Member& put);

}  // namespace turntable::p4runtime_server
