#include "p4runtime_server/group_members.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bfrt_server/switch_link.h"
#include "p4runtime_server/bytestring.h"
#include "p4runtime_server/profile_fields.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;

constexpr int kWatchedPortBits = 9;

template <typename Given>
GroupMember weighed(const Given& given, std::uint32_t id, const std::string& what) {
  if (given.weight() < 1) throw invalid(what + ": expected a weight of at least 1");
  GroupMember member{id, static_cast<std::uint32_t>(given.weight()), std::nullopt};
  if (given.watch_kind_case() == Given::kWatchPort && !given.watch_port().empty()) {
    try {
      member.port = static_cast<std::uint32_t>(
          from_bytestring(given.watch_port(), kWatchedPortBits, what + ", watch_port"));
    } catch (const Refusal& refusal) {
      throw invalid(refusal.what());  // so says "Group Programming"
    }
  } else if (given.watch_kind_case() == Given::kWatch) {
    if (given.watch() < 0) throw invalid(what + ": watch is negative");
    member.port = static_cast<std::uint32_t>(given.watch());
    member.says_watch = true;
  }
  return member;
}

}  // namespace

PortStates port_states(bfrt_server::SwitchLink& link) {
  PortStates states;
  const Json info = link.call("info", Json::object());
  for (const Json& port : info.at("ports"))
    states[port.at("port")] = port.at("enabled") == true && port.at("link") == "up";
  return states;
}

GroupMember group_member(const p4::v1::ActionProfileGroup::Member& given, const std::string& what) {
  return weighed(given, given.member_id(), what);
}

GroupMember group_member(const p4::v1::ActionProfileAction& given, std::uint32_t id,
                         const std::string& what) {
  return weighed(given, id, what);
}

WatchedGroup watched_group(GroupMembers members, bfrt_server::SwitchLink& link,
                           const std::string& what) {
  const bool watches =
      std::any_of(members.begin(), members.end(), [](const auto& each) { return each.port; });
  const PortStates ports = watches ? port_states(link) : PortStates{};
  for (const GroupMember& member : members) {
    if (member.port && !ports.contains(*member.port))
      throw invalid(what + ": there is no port " + std::to_string(*member.port) + " to watch");
  }
  std::vector<bool> active = active_members(members, ports);
  return {std::move(members), std::move(active)};
}

std::vector<bool> active_members(const GroupMembers& members, const PortStates& ports) {
  std::vector<bool> active;
  for (const GroupMember& member : members) {
    const auto port = member.port ? ports.find(*member.port) : ports.end();
    active.push_back(!member.port || (port != ports.end() && port->second));
  }
  return active;
}

Json group_fields(const WatchedGroup& group) {
  Json ids = Json::array(), weights = Json::array(), active = Json::array();
  for (const GroupMember& member : group.members) {
    ids.push_back(member.id);
    weights.push_back(member.weight);
  }
  for (const bool each : group.active) active.push_back(each);
  return {{kMember, std::move(ids)}, {kWeight, std::move(weights)}, {kStatus, std::move(active)}};
}

Json fields_if_still_there(const WatchedGroup& group, const Json& entry) {
  if (entry.is_null()) return nullptr;
  Json fields = group_fields(group);
  const Json& there = entry.at("data");
  const Json::array_t ones(group.members.size(), 1);
  if (there.at(kMember) != fields.at(kMember) ||
      there.value(kWeight, Json(ones)) != fields.at(kWeight))
    return nullptr;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    if (!group.members[i].port) fields.at(kStatus)[i] = there.at(kStatus).at(i);
  }
  return fields;
}

void put_watch(const GroupMember& member, p4::v1::ActionProfileGroup::Member& put) {
  if (!member.port) return;
  if (member.says_watch) {
    put.set_watch(static_cast<std::int32_t>(*member.port));
  } else {
    put.set_watch_port(to_bytestring(*member.port));
  }
}

}  // namespace turntable::p4runtime_server
