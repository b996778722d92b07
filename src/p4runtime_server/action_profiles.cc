#include "p4runtime_server/action_profiles.h"

#include <algorithm>
#include <set>

#include "p4runtime_server/entry_values.h"
#include "p4runtime_server/group_members.h"
#include "p4runtime_server/operation.h"
#include "p4runtime_server/profile_fields.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::Update;

std::string in_profile(const config::ActionProfile& profile) {
  return "action profile " + profile.preamble().name();
}

std::string in_group(const config::ActionProfile& profile,
                     const p4::v1::ActionProfileGroup& group) {
  return in_profile(profile) + ", group " + std::to_string(group.group_id());
}

// Those of the tables that use the profile; all have the same.
void check_action(const ProgramInfo& info, const config::ActionProfile& profile,
                  std::uint32_t action) {
  for (const std::uint32_t id : profile.table_ids()) {
    const auto& references = info.table(id).action_refs();
    if (std::any_of(references.begin(), references.end(),
                    [&](const auto& reference) { return reference.id() == action; }))
      return;
  }
  throw invalid(in_profile(profile) + " has no action with id " + std::to_string(action));
}

const std::string& need_selector(const ProgramInfo& info, const config::ActionProfile& profile) {
  const std::string& selector = info.selector_of(profile);
  if (selector.empty())
    throw invalid(in_profile(profile) + " has no selector, so it has no groups");
  return selector;
}

// Those of clients; numbers from it on are those of one-shot sets.
void check_number(const config::ActionProfile& profile, const char* kind, std::uint32_t number) {
  if (number != 0 && number < kFirstOneShot) return;
  throw invalid(in_profile(profile) + ": " + kind + " " + std::to_string(number) +
                "; expected 1 to " + std::to_string(kFirstOneShot - 1));
}

// Entries have either members and groups of clients, or sets of actions.
void check_no_sets(RunningProgram& program, const config::ActionProfile& profile) {
  ActionSets& sets = program.one_shots();
  const std::uint32_t id = profile.preamble().id();
  if (sets.members(id) == 0) return;
  sets.count(program.info(), program.link());
  if (sets.members(id) == 0) return;
  throw invalid(in_profile(profile) +
                ": entries have one-shot sets of actions; a profile has either those or members "
                "and groups");
}

GroupMembers members_of(const config::ActionProfile& profile,
                        const p4::v1::ActionProfileGroup& group) {
  GroupMembers members;
  std::set<std::uint32_t> seen;
  for (const auto& member : group.members()) {
    const std::string what =
        in_group(profile, group) + ", member " + std::to_string(member.member_id());
    if (!seen.insert(member.member_id()).second) throw invalid(what + " is there twice");
    members.push_back(group_member(member, what));
  }
  return members;
}

// Of a group: P4Runtime's have each once, and one that is there more often more weight.
p4::v1::ActionProfileGroup::Member& member_in(p4::v1::ActionProfileGroup& group, std::uint32_t id) {
  for (auto& member : *group.mutable_members()) {
    if (member.member_id() == id) return member;
  }
  auto& added = *group.add_members();
  added.set_member_id(id);
  return added;
}

void put_group(RunningProgram& program, const config::ActionProfile& profile, const Json& found,
               p4::v1::Entity& entity) {
  p4::v1::ActionProfileGroup& group = *entity.mutable_action_profile_group();
  group.set_action_profile_id(profile.preamble().id());
  group.set_group_id(found.at("key").at(kGroup));
  const Json& data = found.at("data");
  group.set_max_size(data.at(kMost));
  const GroupMembers written =
      program.watched({program.info().selector_of(profile), group.group_id()}).members;
  for (std::size_t i = 0; i < data.at(kMember).size(); ++i) {
    auto& member = member_in(group, data.at(kMember)[i]);
    member.set_weight(member.weight() +
                      (data.contains(kWeight) ? data.at(kWeight)[i].get<std::int32_t>() : 1));
    const auto watching = std::find_if(written.begin(), written.end(), [&](const auto& each) {
      return each.id == member.member_id();
    });
    if (watching != written.end()) put_watch(*watching, member);
  }
}

// The profiles that a read is of: one, or all.
template <typename Use>
void each_profile(const ProgramInfo& info, std::uint32_t id, const Use& use) {
  if (id != 0) return use(info.profile(id));
  for (const config::ActionProfile& profile : info.document().action_profiles()) use(profile);
}

Json read(RunningProgram& program, const std::string& table, const char* key, std::uint32_t id) {
  Json command = {{"table", table}};
  if (id != 0) command["entries"] = {{{"key", {{key, id}}}}};
  return program.link().call("table_read", command).at("entries");
}

// A group keeps the size that it was made with. One that is not there is for softswitch to tell.
void check_same_size(RunningProgram& program, const std::string& table,
                     const p4::v1::ActionProfileGroup& group) {
  const Json entries = read(program, table, kGroup, group.group_id());
  if (entries.at(0).is_null()) return;
  const Json& size = entries.at(0).at("data").at(kMost);
  if (size == group.max_size()) return;
  throw invalid(table + ", group " + std::to_string(group.group_id()) + ": max_size " +
                std::to_string(group.max_size()) + "; it was made with " + size.dump());
}

}  // namespace

SwitchUpdate write_member(RunningProgram& program, Update::Type type,
                          const p4::v1::ActionProfileMember& member) {
  const ProgramInfo& info = program.info();
  const config::ActionProfile& profile = info.profile(member.action_profile_id());
  check_number(profile, "member", member.member_id());
  if (type == Update::INSERT) check_no_sets(program, profile);
  Json update = {{"table", info.on_switch(profile.preamble())},
                 {"op", operation_of(type)},
                 {"key", {{kMember, member.member_id()}}}};
  if (type == Update::DELETE) return {std::move(update)};
  if (!member.has_action()) throw invalid(in_profile(profile) + ": the member's action is missing");
  check_action(info, profile, member.action().action_id());
  const config::Action& action = info.action(member.action().action_id());
  update["action"] = action.preamble().name();
  update["data"] = data_of(action, member.action());
  return {std::move(update)};
}

SwitchUpdate write_group(RunningProgram& program, Update::Type type,
                         const p4::v1::ActionProfileGroup& group) {
  const ProgramInfo& info = program.info();
  const config::ActionProfile& profile = info.profile(group.action_profile_id());
  check_number(profile, "group", group.group_id());
  const GroupName name{need_selector(info, profile), group.group_id()};
  Json update = {
      {"table", name.first}, {"op", operation_of(type)}, {"key", {{kGroup, name.second}}}};
  if (type == Update::DELETE)
    return {std::move(update), [&program, name] { program.watch(name, {}); }};
  if (type == Update::INSERT) check_no_sets(program, profile);
  if (group.max_size() < 1 || group.max_size() > profile.max_group_size()) {
    throw invalid(in_profile(profile) + ": max_size " + std::to_string(group.max_size()) +
                  "; expected 1 to " + std::to_string(profile.max_group_size()));
  }
  if (type == Update::MODIFY) check_same_size(program, update.at("table"), group);
  const WatchedGroup members =
      watched_group(members_of(profile, group), program.link(), in_group(profile, group));
  update["data"] = group_fields(members);
  if (type == Update::INSERT) update["data"][kMost] = group.max_size();
  return {std::move(update), [&program, name, members] { program.watch(name, members); }};
}

void read_members(RunningProgram& program, const p4::v1::ActionProfileMember& wanted,
                  const Entities& found) {
  const ProgramInfo& info = program.info();
  each_profile(info, wanted.action_profile_id(), [&](const config::ActionProfile& profile) {
    const std::string table = info.on_switch(profile.preamble());
    for (const Json& each : read(program, table, kMember, wanted.member_id())) {
      if (each.is_null() || each.at("key").at(kMember) >= kFirstOneShot) continue;
      p4::v1::Entity entity;
      p4::v1::ActionProfileMember& member = *entity.mutable_action_profile_member();
      member.set_action_profile_id(profile.preamble().id());
      member.set_member_id(each.at("key").at(kMember));
      put_action(info.action(each.at("action").get<std::string>()), each.at("data"),
                 *member.mutable_action());
      found(std::move(entity));
    }
  });
}

void read_groups(RunningProgram& program, const p4::v1::ActionProfileGroup& wanted,
                 const Entities& found) {
  const ProgramInfo& info = program.info();
  if (wanted.action_profile_id() != 0)
    need_selector(info, info.profile(wanted.action_profile_id()));
  each_profile(info, wanted.action_profile_id(), [&](const config::ActionProfile& profile) {
    const std::string& table = info.selector_of(profile);
    if (table.empty()) return;
    for (const Json& each : read(program, table, kGroup, wanted.group_id())) {
      if (each.is_null() || each.at("key").at(kGroup) >= kFirstOneShot) continue;
      p4::v1::Entity entity;
      put_group(program, profile, each, entity);
      found(std::move(entity));
    }
  });
}

}  // namespace turntable::p4runtime_server
