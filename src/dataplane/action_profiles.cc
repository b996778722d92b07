#include "dataplane/action_profiles.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/command_error.h"
#include "dataplane/operation.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

constexpr const char* kStatus = "$ACTION_MEMBER_STATUS";
constexpr const char* kMost = "$MAX_GROUP_SIZE";
constexpr const char* kAdtOffset = "$ADT_OFFSET";
// softswitch's own, beside BfRt's fields; there where a member has another weight than 1.
constexpr const char* kWeight = "$ACTION_MEMBER_WEIGHT";

std::uint32_t number(const Json& value, const std::string& what) {
  return static_cast<std::uint32_t>(parse_value(value, 32, what));
}

std::string text(std::uint32_t number) {
  return std::to_string(number);
}

// Of an update's or entry's key. `field`: its only one.
std::uint32_t number_of(const Json& entry, const char* field, const std::string& table) {
  const std::string what = "table " + table + ", key " + field;
  const auto key = entry.find("key");
  if (key == entry.end() || !key->is_object() || key->size() != 1 || !key->contains(field))
    throw bad_argument(what + " is missing; expected it, and no other one");
  return number(key->at(field), what);
}

bool is_of_columns(const std::string& operation) {
  return operation.ends_with("_columns");
}

CommandError in_use(const std::string& table, const char* what, std::uint32_t number,
                    const std::string& who) {
  return {"referenced", "table " + table + ": " + what + " " + text(number) + " is in use by " +
                            who + "; remove it there first"};
}

CommandError no_field(const std::string& what, const std::string& field) {
  return bad_argument(what + ": no data field \"" + field + "\"");
}

// Whether an update is refused that leaves an entry with a group of which no member is active.
// Without it such an entry runs the default action, as in P4Runtime.
bool wants_active_group(const Json& update) {
  return update.value("active_group", Json(false)) == true;
}

// A chip's memory has two entries of action data in a line.
std::uint32_t adt_offset(const Json& value, const std::string& what) {
  const std::uint32_t offset = number(value, what + ", " + kAdtOffset);
  if (offset % 2 == 0 || offset == ActionSelector::kNoAdtOffset) return offset;
  throw bad_argument(what + ": " + kAdtOffset + " is " + text(offset) +
                     "; expected an even number, or none");
}

Json as_json(std::uint32_t id, const ActionSelector::Group& group) {
  Json members = Json::array(), status = Json::array(), weights = Json::array();
  for (const ActionSelector::Member& member : group.members) {
    members.push_back(member.id);
    status.push_back(member.is_active);
    weights.push_back(member.weight);
  }
  Json data = {{kMemberField, members},
               {kStatus, status},
               {kMost, group.most},
               {kAdtOffset, group.adt_offset}};
  if (group.weight() != group.members.size()) data[kWeight] = weights;
  return {{"key", {{kGroupField, id}}}, {"data", data}};
}

}  // namespace

void ActionProfiles::add_selector(const std::string& name, ActionSelector& selector,
                                  const std::string& profile) {
  selectors_.emplace(name, Selector{&selector, profile});
}

void ActionProfiles::add_implementation(const std::string& table, const std::string& profile,
                                        const std::string& selector) {
  implementations_.emplace(table, Implementation{profile, selector});
  tables_.at(table)->count_names();
}

const ActionProfiles::Selector& ActionProfiles::selector_of(const TableSchema& schema) const {
  return selectors_.at(schema.name);
}

void ActionProfiles::check(const TableSchema& schema, const Json& update) const {
  if (schema.is_indirect()) check_entry(schema, update);
  if (schema.is_profile()) check_members(schema, update);
}

Json ActionProfiles::implementation_of(const TableSchema& schema) const {
  const auto found = implementations_.find(schema.name);
  if (found == implementations_.end()) return {};
  return {found->second.profile, found->second.selector};
}

void ActionProfiles::check_named(const TableSchema& schema, const Json& entry) const {
  if (!schema.is_indirect()) return;
  Json insertion = entry;
  insertion["op"] = "insert";
  check_entry(schema, insertion);
}

void ActionProfiles::check_entry(const TableSchema& schema, const Json& update) const {
  const std::string operation = operation_of(update, kOperations);
  const std::string what = "table " + schema.name;
  if (is_of_columns(operation)) throw bad_argument(what + ": write entry by entry (\"upsert\")");
  const bool is_default = operation == "set_default";
  if (operation != "insert" && operation != "modify" && operation != "upsert" && !is_default)
    return;
  const Implementation& of = implementations_.at(schema.name);
  const Json data = update.value("data", Json::object());
  if (!data.is_object() || data.contains(kMemberField) == data.contains(kGroupField))
    return;  // the codec says what is expected
  if (const auto member = data.find(kMemberField); member != data.end())
    require_member(of.profile, number(*member, what + ", " + kMemberField), what);
  if (is_default && data.contains(kGroupField))
    throw bad_argument(what + ": the default entry cannot name a group; name a member");
  if (const auto group = data.find(kGroupField); group != data.end() && !of.selector.empty()) {
    const std::uint32_t wanted = number(*group, what + ", " + kGroupField);
    if (!selectors_.at(of.selector).selector->groups().contains(wanted)) {
      throw CommandError("not_found", what + ": " + of.selector + " has no group " + text(wanted) +
                                          "; insert it first");
    }
    if (wants_active_group(update) &&
        selectors_.at(of.selector).selector->groups().at(wanted).active_weight() == 0)
      throw bad_argument(what + ": group " + text(wanted) + " has no active member");
  }
}

void ActionProfiles::check_members(const TableSchema& schema, const Json& update) const {
  const std::string operation = operation_of(update, kOperations);
  if (operation == "delete_columns")
    throw bad_argument("table " + schema.name + ": delete member by member (\"delete\")");
  if (operation == "delete")
    require_unused_member(schema.name, number_of(update, kMemberField, schema.name));
  if (operation != "clear" && operation != "reset") return;
  const Table& members = *tables_.at(schema.name);
  for (const std::uint32_t entry : members.entries()) {
    require_unused_member(schema.name,
                          static_cast<std::uint32_t>(members.match(entry).first.front()));
  }
}

void ActionProfiles::require_member(const std::string& profile, std::uint32_t member,
                                    const std::string& what) const {
  if (tables_.at(profile)->find({{member}, {}, 0}) != kNoEntry) return;
  throw CommandError(
      "not_found", what + ": " + profile + " has no member " + text(member) + "; insert it first");
}

void ActionProfiles::require_unused_member(const std::string& profile, std::uint32_t member) const {
  for (const auto& [table, of] : implementations_)
    if (of.profile == profile && tables_.at(table)->is_named(kOfMember, member))
      throw in_use(profile, "member", member, "table " + table);
  for (const auto& [name, of] : selectors_)
    if (of.profile == profile && of.selector->has_member(member))
      throw in_use(profile, "member", member, "a group of " + name);
}

const std::string* ActionProfiles::who_names_group(const std::string& selector,
                                                   std::uint32_t group) const {
  for (const auto& [table, of] : implementations_)
    if (of.selector == selector && tables_.at(table)->is_named(kOfGroup, group)) return &table;
  return nullptr;
}

void ActionProfiles::require_unused_group(const std::string& selector, std::uint32_t group) const {
  if (const std::string* table = who_names_group(selector, group))
    throw in_use(selector, "group", group, "table " + *table);
}

// What the update leaves out is as before.
ActionSelector::Group ActionProfiles::read_group(const std::string& name, const Selector& of,
                                                 const Json& update,
                                                 const ActionSelector::Group& before) const {
  const std::string what = "table " + name;
  const Json data = update.value("data", Json::object());
  for (const auto& [field, value] : data.items())
    if (field != kMemberField && field != kStatus && field != kMost && field != kWeight &&
        field != kAdtOffset)
      throw no_field(what, field);
  ActionSelector::Group group = before;
  if (data.contains(kMost)) group.most = number(data.at(kMost), what + ", " + kMost);
  if (group.most < 1 || group.most > of.selector->group_size()) {
    throw bad_argument(what + ": " + kMost + " is " + text(group.most) + "; expected 1 to " +
                       text(of.selector->group_size()));
  }
  if (data.contains(kAdtOffset)) group.adt_offset = adt_offset(data.at(kAdtOffset), what);
  if (data.contains(kMemberField) != data.contains(kStatus))
    throw bad_argument(what + ": expected " + kMemberField + " and " + kStatus +
                       ", or none of them");
  if (data.contains(kWeight) && !data.contains(kMemberField))
    throw bad_argument(what + ": " + kWeight + " is there without " + kMemberField);
  if (data.contains(kMemberField)) {
    const Json &members = data.at(kMemberField), &status = data.at(kStatus);
    const Json weights = data.value(kWeight, Json(Json::array_t(members.size(), 1)));
    if (!members.is_array() || !status.is_array() || members.size() != status.size() ||
        !weights.is_array() || weights.size() != members.size()) {
      throw bad_argument(what + ": " + kMemberField + ", " + kStatus + " and, if given, " +
                         kWeight + ": expected lists, as long");
    }
    group.members.clear();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::uint32_t member = number(members[i], what + ", " + kMemberField);
      require_member(of.profile, member, what);
      const std::uint32_t weight = number(weights[i], what + ", " + kWeight);
      if (weight == 0) throw bad_argument(what + ", " + kWeight + ": expected at least 1");
      group.members.push_back(
          {member, parse_value(status[i], 1, what + ", " + kStatus) != 0, weight});
    }
  }
  if (group.weight() > group.most) {
    throw CommandError("full", what + ": members of weight " + std::to_string(group.weight()) +
                                   " together; the group has room for " + text(group.most));
  }
  return group;
}

void ActionProfiles::write(const TableSchema& schema, const Json& update, TableBatch& batch) const {
  const Selector& of = selector_of(schema);
  ActionSelector& selector = *of.selector;
  const std::string operation = operation_of(update, kEntryOperations);
  const auto put_back = [&selector](std::uint32_t id, const ActionSelector::Group& group) {
    return [&selector, id, group] { selector.put(id, group); };
  };
  const auto erase = [&](std::uint32_t id) {
    require_unused_group(schema.name, id);
    batch.changed(put_back(id, selector.groups().at(id)), false);
    selector.erase(id);
  };
  if (operation == "clear") {
    while (!selector.groups().empty()) erase(selector.groups().begin()->first);
    return;
  }
  if (operation != "insert" && operation != "modify" && operation != "upsert" &&
      operation != "delete") {
    throw unknown_operation(operation, kEntryOperations);
  }
  const std::uint32_t id = number_of(update, kGroupField, schema.name);
  const auto found = selector.groups().find(id);
  const bool is_there = found != selector.groups().end();
  if (operation == "insert" && is_there)
    throw CommandError("exists", "table " + schema.name + ": group " + text(id) +
                                     " exists already; use \"modify\" or \"upsert\"");
  if ((operation == "modify" || operation == "delete") && !is_there) {
    throw CommandError("not_found", "table " + schema.name + ": group " + text(id) +
                                        " does not exist; use \"insert\" or \"upsert\"");
  }
  if (operation == "delete") return erase(id);
  if (!is_there && selector.groups().size() >= selector.capacity()) {
    throw CommandError(
        "full", "table " + schema.name + " is full at " + text(selector.capacity()) + " groups");
  }
  const ActionSelector::Group before =
      is_there ? found->second : ActionSelector::Group{{}, selector.group_size()};
  ActionSelector::Group group = read_group(schema.name, of, update, before);
  const std::string* const named_by =
      group.active_weight() == 0 ? who_names_group(schema.name, id) : nullptr;
  if (named_by != nullptr && wants_active_group(update)) {
    throw bad_argument("table " + schema.name + ": group " + text(id) +
                       " would have no active member, but table " + *named_by + " names it");
  }
  if (is_there)
    batch.changed(put_back(id, before), true);
  else
    batch.changed([&selector, id] { selector.erase(id); }, false);
  selector.put(id, std::move(group));
}

Json ActionProfiles::read(const TableSchema& schema, const EntriesAsked& asked) const {
  const auto& groups = selector_of(schema).selector->groups();
  const auto entry_of = [&](std::uint32_t id) {
    const auto found = groups.find(id);
    if (found == groups.end()) return Json();
    Json entry = as_json(id, found->second);
    if (asked.with_handles()) entry["handle"] = id;
    return entry;
  };
  Json entries = Json::array();
  if (asked.by_key()) {
    for (const Json& key : *asked.by_key())
      entries.push_back(entry_of(number_of(key, kGroupField, schema.name)));
  } else if (asked.by_handle()) {
    for (const std::uint32_t id : *asked.by_handle()) entries.push_back(entry_of(id));
  } else {
    for (const auto& [id, group] : groups) entries.push_back(entry_of(id));
  }
  return entries;
}

Json ActionProfiles::chosen_member(const TableSchema& schema, const Json& args) const {
  const std::string what = "selector " + schema.name;
  const auto argument = [&](const char* name, int width) {
    if (!args.contains(name)) throw bad_argument(what + ": \"" + name + "\" is missing; a number");
    return static_cast<std::uint64_t>(parse_value(args.at(name), width, what + ", " + name));
  };
  const std::uint64_t group = argument("group", 32);
  const ActionSelector& selector = *selector_of(schema).selector;
  const std::uint64_t member = selector.choose(group, argument("hash", 64));
  if (member != ActionSelector::kNobody) return {{"table", schema.name}, {"member", member}};
  const bool is_there = selector.groups().contains(static_cast<std::uint32_t>(group));
  throw CommandError("not_found", what + ": group " + std::to_string(group) +
                                      (is_there ? " has no active member" : " does not exist"));
}

std::size_t ActionProfiles::groups(const TableSchema& schema) const {
  return selector_of(schema).selector->groups().size();
}

}  // namespace turntable::dataplane
