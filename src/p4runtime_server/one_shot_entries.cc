#include "p4runtime_server/one_shot_entries.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "p4runtime_server/entry_values.h"
#include "p4runtime_server/group_members.h"
#include "p4runtime_server/profile_fields.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::ActionProfileActionSet;

void check_choice(const config::Table& table, const ActionProfileActionSet& set) {
  if (set.action_selection_mode() == ActionProfileActionSet::RANDOM)
    throw not_supported(in(table) + ": selectors choose by hash; expected that or the default");
  if (set.size_semantics() == ActionProfileActionSet::SUM_OF_MEMBERS)
    throw not_supported(in(table) + ": a group's size is the sum of its weights");
  if (set.has_group_action()) throw not_supported(in(table) + ": groups have no action of theirs");
}

// Members that clients have written.
void check_no_members(RunningProgram& program, const config::Table& table,
                      const config::ActionProfile& profile) {
  const ProgramInfo& info = program.info();
  const Json there =
      program.link().call("table_info", {{"table", info.on_switch(profile.preamble())}});
  ActionSets& sets = program.one_shots();
  const std::uint32_t id = profile.preamble().id();
  if (there.at("entries") == sets.members(id)) return;
  sets.count(info, program.link());
  if (there.at("entries") == sets.members(id)) return;
  throw invalid(in(table) +
                ": its action profile has members; entries have either those or one-shot sets of "
                "actions");
}

// Of an entry that is on the switch. Nothing: it is not, or names a member.
std::optional<std::uint32_t> group_named_by(bfrt_server::SwitchLink& link, const Json& update) {
  const Json found = entry_at(link, update);
  if (found.is_null() || !found.at("data").contains(kGroup)) return std::nullopt;
  return found.at("data").at(kGroup).get<std::uint32_t>();
}

// One that a server before this one has made: its members are numbered from its group's number on.
ActionSet set_on_switch(RunningProgram& program, const config::ActionProfile& profile,
                        std::uint32_t group) {
  const Json found = entry_at(
      program.link(), {{"table", program.info().selector_of(profile)}, {"key", {{kGroup, group}}}});
  const std::size_t members = found.is_null() ? 0 : found.at("data").at(kMember).size();
  return {{}, profile.preamble().id(), group, static_cast<std::uint32_t>(members)};
}

// What softswitch still has of a set: another client may have deleted some of it.
struct Remains {
  bool group = false;
  std::vector<std::uint32_t> members;

  bool are_all_of(const ActionSet& set) const { return group && members.size() == set.members; }
};

Remains remains_of(RunningProgram& program, const config::ActionProfile& profile,
                   const ActionSet& set) {
  const auto there = [&](const std::string& table, const char* key, std::uint32_t numbers) {
    Json entries = Json::array();
    for (std::uint32_t i = 0; i < numbers; ++i)
      entries.push_back({{"key", {{key, set.first + i}}}});
    return program.link()
        .call("table_read", {{"table", table}, {"entries", std::move(entries)}})
        .at("entries");
  };
  const ProgramInfo& info = program.info();
  Remains remains;
  remains.group = !there(info.selector_of(profile), kGroup, 1).at(0).is_null();
  const Json members = there(info.on_switch(profile.preamble()), kMember, set.members);
  for (std::uint32_t i = 0; i < set.members; ++i) {
    if (!members.at(i).is_null()) remains.members.push_back(set.first + i);
  }
  return remains;
}

WatchedGroup members_of_set(RunningProgram& program, const config::Table& table,
                            const config::ActionProfile& profile, const ActionProfileActionSet& set,
                            std::uint32_t first) {
  GroupMembers members;
  std::uint64_t weight = 0;
  for (const auto& action : set.action_profile_actions()) {
    const auto number = static_cast<std::uint32_t>(members.size());
    members.push_back(group_member(
        action, first + number, in(table) + ", action " + std::to_string(number) + " of the set"));
    weight += members.back().weight;
  }
  if (weight > static_cast<std::uint64_t>(profile.max_group_size())) {
    throw invalid(in(table) + ": actions of weight " + std::to_string(weight) +
                  " together; expected at most " + std::to_string(profile.max_group_size()));
  }
  return watched_group(std::move(members), program.link(), in(table));
}

// Elements of table_write's "updates" that make or change a member, and take it away.
Json member_update(const ProgramInfo& info, const config::Table& table,
                   const config::ActionProfile& profile, const char* operation,
                   std::uint32_t number, const p4::v1::Action& given) {
  const auto& references = table.action_refs();
  const bool is_there = std::any_of(references.begin(), references.end(), [&](const auto& each) {
    return each.id() == given.action_id();
  });
  if (!is_there)
    throw invalid(in(table) + " has no action with id " + std::to_string(given.action_id()));
  const config::Action& action = info.action(given.action_id());
  return {{"table", info.on_switch(profile.preamble())},
          {"op", operation},
          {"key", {{kMember, number}}},
          {"action", action.preamble().name()},
          {"data", data_of(action, given)}};
}

Json member_removal(const ProgramInfo& info, const config::ActionProfile& profile,
                    std::uint32_t number) {
  return {{"table", info.on_switch(profile.preamble())},
          {"op", "delete"},
          {"key", {{kMember, number}}}};
}

Json group_of(const std::string& selector, const char* operation, std::uint32_t number) {
  return {{"table", selector}, {"op", operation}, {"key", {{kGroup, number}}}};
}

// Elements of table_write's "updates" that take away what remains of a set.
Json removal_of(const ProgramInfo& info, const config::ActionProfile& profile, const ActionSet& set,
                const Remains& remains) {
  Json updates = Json::array();
  if (remains.group) updates.push_back(group_of(info.selector_of(profile), "delete", set.first));
  for (const std::uint32_t member : remains.members)
    updates.push_back(member_removal(info, profile, member));
  return updates;
}

void append(Json& updates, Json more) {
  for (Json& update : more) updates.push_back(std::move(update));
}

}  // namespace

std::optional<ActionSet> set_of(RunningProgram& program, const config::Table& table,
                                const Json& update, const std::string& entry_name) {
  const config::ActionProfile& profile = program.info().profile(table.implementation_id());
  const ActionSets& sets = program.one_shots();
  if (const ActionSet* known = sets.find(entry_name)) return *known;
  if (!sets.has_others()) return std::nullopt;
  const std::optional<std::uint32_t> group = group_named_by(program.link(), update);
  if (!group || !sets.is_other(program.info().selector_of(profile), *group)) return std::nullopt;
  return set_on_switch(program, profile, *group);
}

SwitchUpdate write_action_set(RunningProgram& program, const config::Table& table,
                              const ActionProfileActionSet& set, Json update,
                              const std::string& entry_name) {
  const ProgramInfo& info = program.info();
  const config::ActionProfile& profile = info.profile(table.implementation_id());
  check_choice(table, set);
  check_no_members(program, table, profile);
  const std::optional<ActionSet> before = set_of(program, table, update, entry_name);
  const Remains remains = before ? remains_of(program, profile, *before) : Remains{};
  const auto size = static_cast<std::uint32_t>(set.action_profile_actions_size());
  // One that has as many members at most changes them where they are: the profile may be full.
  const bool fits = before && remains.are_all_of(*before) && size <= before->members;
  const ActionSet now{set, profile.preamble().id(),
                      fits ? before->first : program.one_shots().take(size), size};
  const GroupName name{info.selector_of(profile), now.first};
  const WatchedGroup members = members_of_set(program, table, profile, set, now.first);
  Json updates = Json::array();
  // Members that no group has make room first.
  if (before && !fits && !remains.group)
    append(updates, removal_of(info, profile, *before, remains));
  for (std::uint32_t i = 0; i < size; ++i) {
    updates.push_back(member_update(info, table, profile, fits ? "modify" : "insert", now.first + i,
                                    set.action_profile_actions(static_cast<int>(i)).action()));
  }
  Json group = group_of(name.first, fits ? "modify" : "insert", now.first);
  group["data"] = group_fields(members);
  group["data"][kMost] = profile.max_group_size();
  updates.push_back(std::move(group));
  update["data"][kGroup] = now.first;
  updates.push_back(std::move(update));
  if (before && !fits && remains.group)
    append(updates, removal_of(info, profile, *before, remains));
  for (std::uint32_t i = size; fits && i < before->members; ++i)
    updates.push_back(member_removal(info, profile, before->first + i));
  return {std::move(updates),
          [&program, entry_name, now, name, before, members] {
            if (before) {
              program.watch({name.first, before->first}, {});
              program.one_shots().forget_other(name.first, *before);
            }
            program.watch(name, members);
            program.one_shots().put(entry_name, now);
          },
          entry_name};
}

SwitchUpdate delete_action_set(RunningProgram& program, const config::Table& table,
                               const ActionSet& set, Json update, const std::string& entry_name) {
  const ProgramInfo& info = program.info();
  const config::ActionProfile& profile = info.profile(table.implementation_id());
  Json updates = Json::array();
  updates.push_back(std::move(update));
  append(updates, removal_of(info, profile, set, remains_of(program, profile, set)));
  return {std::move(updates),
          [&program, entry_name, set, selector = info.selector_of(profile)] {
            program.watch({selector, set.first}, {});
            program.one_shots().forget_other(selector, set);
            program.one_shots().erase(entry_name);
          },
          entry_name};
}

}  // namespace turntable::p4runtime_server
