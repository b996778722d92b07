#include "p4runtime_server/table_entries.h"

#include <algorithm>

#include "p4runtime_server/direct_resources.h"
#include "p4runtime_server/entry_values.h"
#include "p4runtime_server/idle_timeouts.h"
#include "p4runtime_server/meter_data.h"
#include "p4runtime_server/one_shot_entries.h"
#include "p4runtime_server/operation.h"
#include "p4runtime_server/profile_fields.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::TableEntry;
using p4::v1::Update;

// What the notes of an entry are found by: what softswitch would say of it.
std::string identity(const config::Table& table, const TableEntry& entry) {
  TableEntry place;
  place.set_table_id(table.preamble().id());
  place.set_priority(entry.priority());
  place.set_is_default_action(entry.is_default_action());
  if (!entry.is_default_action()) put_key(table, full_key(table, key_of(table, entry)), place);
  return place.SerializeAsString();
}

void check_idle_timeout(const config::Table& table) {
  if (supports_idle_timeout(table)) return;
  throw invalid(in(table) +
                " has no idle time-out; `idle_timeout = true` in the P4 program gives it one");
}

void refuse_what_is_not_there(const config::Table& table, const TableEntry& entry) {
  refuse_color_counters(entry.has_meter_counter_data());
  if (entry.is_const()) throw invalid(in(table) + ": is_const is not the client's to set");
  if (entry.has_time_since_last_hit())
    throw invalid(in(table) + ": time_since_last_hit is not the client's to set");
  if (entry.idle_timeout_ns() < 0) throw invalid(in(table) + ": idle_timeout_ns is negative");
  if (entry.idle_timeout_ns() == 0) return;
  check_idle_timeout(table);
  if (entry.is_default_action())
    throw invalid(in(table) + ": the default entry has no idle time-out");
}

const config::ActionRef& allowed_action(const config::Table& table, std::uint32_t id,
                                        config::ActionRef::Scope forbidden) {
  const auto reference = std::find_if(table.action_refs().begin(), table.action_refs().end(),
                                      [&](const auto& each) { return each.id() == id; });
  if (reference == table.action_refs().end())
    throw invalid(in(table) + " has no action with id " + std::to_string(id));
  if (reference->scope() == forbidden) {
    throw denied(in(table) + ": the action with id " + std::to_string(id) +
                 (forbidden == config::ActionRef::TABLE_ONLY ? " is for entries only"
                                                             : " is for the default entry only"));
  }
  return *reference;
}

// Those of sets are not for clients to name.
void check_client_number(const config::Table& table, const char* kind, std::uint32_t number) {
  if (number < kFirstOneShot) return;
  throw not_found(in(table) + ": its action profile has no " + kind + " " + std::to_string(number));
}

bool has_selector(const ProgramInfo& info, const config::Table& table) {
  return table.implementation_id() != 0 && info.profile(table.implementation_id()).with_selector();
}

// "action" and "data".
void put_action_into(const ProgramInfo& info, const config::Table& table,
                     const p4::v1::TableAction& given, config::ActionRef::Scope forbidden,
                     Json& update) {
  if (table.implementation_id() == 0) {
    if (!given.has_action()) throw invalid(in(table) + ": expected an action");
    const std::uint32_t id = given.action().action_id();
    allowed_action(table, id, forbidden);
    const config::Action& action = info.action(id);
    update["action"] = action.preamble().name();
    update["data"] = data_of(action, given.action());
    return;
  }
  const bool has_groups = has_selector(info, table);
  switch (given.type_case()) {
    case p4::v1::TableAction::kActionProfileMemberId:
      check_client_number(table, "member", given.action_profile_member_id());
      update["data"] = {{kMember, given.action_profile_member_id()}};
      return;
    case p4::v1::TableAction::kActionProfileGroupId:
      if (!has_groups) break;
      check_client_number(table, "group", given.action_profile_group_id());
      update["data"] = {{kGroup, given.action_profile_group_id()}};
      return;
    default:
      break;
  }
  throw invalid(in(table) + ": its entries name a member" +
                (has_groups ? " or a group of its action profile, or have a set of actions"
                            : " of its action profile"));
}

EntryNotes notes_of(const TableEntry& entry) {
  return {.metadata = entry.metadata(),
          .controller_metadata = entry.controller_metadata(),
          .idle_timeout_ns = entry.idle_timeout_ns()};
}

SwitchUpdate also(SwitchUpdate update, std::function<void()> remember) {
  update.done = [first = std::move(update.done), remember = std::move(remember)] {
    first();
    remember();
  };
  return update;
}

// The member or group that an entry names now. Throws Refusal NOT_FOUND.
Json named_by(RunningProgram& program, const Json& update) {
  const Json found = entry_at(program.link(), update);
  if (found.is_null())
    throw not_found(update.at("table").get<std::string>() + ": there is no such entry");
  const char* field = found.at("data").contains(kGroup) ? kGroup : kMember;
  return {{field, found.at("data").at(field)}};
}

SwitchUpdate write_default(RunningProgram& program, Update::Type type, const config::Table& table,
                           const TableEntry& entry) {
  const ProgramInfo& info = program.info();
  if (type != Update::MODIFY)
    throw invalid(in(table) + ": the default entry is always there; it can only be modified");
  check_default_place(table, entry);
  if (table.const_default_action_id() != 0)
    throw denied(in(table) + ": its default action is a constant of the program");
  if (table.implementation_id() != 0) {
    throw denied(in(table) +
                 ": beside an action profile the default action is the program's alone (P4Runtime "
                 "1.4, \"Default Entry\")");
  }
  const std::string place = identity(table, entry);
  Json update = {{"table", info.on_switch(table.preamble())}};
  if (!entry.has_action()) {
    if (entry.has_counter_data() || entry.has_meter_config())
      throw invalid(in(table) + ": without an action all of the default entry is reset");
    update["op"] = "reset_default";
    return {std::move(update), [&program, place] { program.forget(place); }};
  }
  update["op"] = "set_default";
  put_action_into(info, table, entry.action(), config::ActionRef::TABLE_ONLY, update);
  put_direct(info, table, entry, update);
  const EntryNotes notes = notes_of(entry);
  return {std::move(update), [&program, place, notes] { program.note(place, notes); }};
}

// Of an entry that is a constant of the program, its counter and meter may be written, and nothing
// else.
bool writes_direct_alone(const ProgramInfo& info, const config::Table& table, Update::Type type,
                         const TableEntry& entry) {
  return type == Update::MODIFY && !entry.has_action() &&
         (entry.has_counter_data() || info.direct_meter(table) != nullptr);
}

// Of the entries that softswitch has, whether this one is asked for.
bool is_wanted(const TableEntry& wanted, const TableEntry& found) {
  if (wanted.priority() != 0 && wanted.priority() != found.priority()) return false;
  if (!wanted.metadata().empty() && wanted.metadata() != found.metadata()) return false;
  if (wanted.controller_metadata() != 0 &&
      wanted.controller_metadata() != found.controller_metadata())
    return false;
  return !wanted.has_action() ||
         wanted.action().action().action_id() == found.action().action().action_id();
}

// `set`: what the client has written, if it is a set of actions.
void put_found_action(const ProgramInfo& info, const config::Table& table, const Json& found,
                      const ActionSet* set, TableEntry& entry) {
  const Json& data = found.at("data");
  if (table.implementation_id() == 0) {
    const config::Action& action = info.action(found.at("action").get<std::string>());
    put_action(action, data, *entry.mutable_action()->mutable_action());
  } else if (set != nullptr && data.value(kGroup, 0U) == set->first) {
    *entry.mutable_action()->mutable_action_profile_action_set() = set->written;
  } else if (data.contains(kGroup)) {
    entry.mutable_action()->set_action_profile_group_id(data.at(kGroup));
  } else {
    entry.mutable_action()->set_action_profile_member_id(data.at(kMember));
  }
}

void read_table(RunningProgram& program, const config::Table& table, const TableEntry& wanted,
                const std::function<void(TableEntry&&)>& each) {
  const ProgramInfo& info = program.info();
  std::map<std::string, IdleTime> idle;
  if (wanted.has_time_since_last_hit()) idle = idle_times(program, table, 0);
  const auto give = [&](const Json& found, bool is_default) {
    TableEntry entry;
    if (is_default) {
      entry.set_table_id(table.preamble().id());
      entry.set_is_default_action(true);
    } else {
      entry = place_on_switch(table, found);
    }
    const std::string name = entry.SerializeAsString();
    const EntryNotes notes = program.notes(name);
    const bool may_have_set = !is_default && has_selector(info, table);
    put_found_action(info, table, found, may_have_set ? program.one_shots().find(name) : nullptr,
                     entry);
    put_notes(notes, entry);
    const auto idle_for = idle.find(name);
    if (idle_for != idle.end())
      entry.mutable_time_since_last_hit()->set_elapsed_ns(idle_for->second.ns);
    entry.set_is_const(is_default ? table.const_default_action_id() != 0 : table.is_const_table());
    put_found_direct(info, table, wanted, found.at("data"), entry);
    if (is_wanted(wanted, entry)) each(std::move(entry));
  };
  Json command = {{"table", info.on_switch(table.preamble())}};
  const bool is_one = !wanted.match().empty();
  if (is_one) {
    Json place = {{"key", key_of(table, wanted)}};
    if (has_priority(table)) place["priority"] = switch_priority(table, wanted.priority());
    command["entries"] = Json::array({place});
  }
  const Json result = program.link().call("table_read", command);
  if (wanted.is_default_action()) {
    if (!result.at("default").is_null()) give(result.at("default"), true);
    return;
  }
  for (const Json& found : result.at("entries")) {
    if (!found.is_null()) give(found, false);
  }
}

}  // namespace

SwitchUpdate write_table_entry(RunningProgram& program, Update::Type type,
                               const TableEntry& entry) {
  const ProgramInfo& info = program.info();
  const config::Table& table = info.table(entry.table_id());
  if (type != Update::INSERT && type != Update::MODIFY && type != Update::DELETE)
    throw invalid(in(table) + ": what to do is not said");
  if (type != Update::DELETE) refuse_what_is_not_there(table, entry);
  if (entry.is_default_action()) return write_default(program, type, table, entry);
  Json update = place_of(info, table, entry);
  const std::string place = identity(table, entry);
  if (table.is_const_table() && !writes_direct_alone(info, table, type, entry))
    throw denied(in(table) + ": its entries are constants of the program");
  update["op"] = operation_of(type);
  const std::string set_name = has_selector(info, table) ? place : "";
  if (type == Update::DELETE) {
    const auto set = set_name.empty() ? std::nullopt : set_of(program, table, update, place);
    SwitchUpdate deletion{std::move(update)};
    if (set) deletion = delete_action_set(program, table, *set, std::move(deletion.update), place);
    deletion.once = set_name;
    return also(std::move(deletion), [&program, place] { program.forget(place); });
  }
  SwitchUpdate written;
  if (entry.action().has_action_profile_action_set() && has_selector(info, table)) {
    put_direct(info, table, entry, update);
    written = write_action_set(program, table, entry.action().action_profile_action_set(),
                               std::move(update), place);
  } else {
    if (type == Update::MODIFY && !entry.has_action()) {
      if (table.implementation_id() != 0) update["data"] = named_by(program, update);
    } else {
      put_action_into(info, table, entry.action(), config::ActionRef::DEFAULT_ONLY, update);
    }
    put_direct(info, table, entry, update);
    written.update = std::move(update);
  }
  written.once = set_name;
  const EntryNotes notes = notes_of(entry);
  return also(std::move(written), [&program, place, notes] { program.note(place, notes); });
}

void each_entry(RunningProgram& program, const TableEntry& wanted,
                const std::function<void(TableEntry&&)>& each) {
  const ProgramInfo& info = program.info();
  refuse_color_counters(wanted.has_meter_counter_data());
  if (wanted.has_time_since_last_hit()) {
    if (wanted.is_default_action()) throw invalid("default entries have no idle time-out");
    if (wanted.table_id() != 0) check_idle_timeout(info.table(wanted.table_id()));
  }
  if (wanted.table_id() != 0)
    return read_table(program, info.table(wanted.table_id()), wanted, each);
  TableEntry unfiltered;
  if (wanted.has_counter_data()) unfiltered.mutable_counter_data();
  if (wanted.has_meter_config()) unfiltered.mutable_meter_config();
  unfiltered.set_is_default_action(wanted.is_default_action());
  for (const config::Table& table : info.document().tables()) {
    const bool has_time = wanted.has_time_since_last_hit() && supports_idle_timeout(table);
    unfiltered.clear_time_since_last_hit();
    if (has_time) unfiltered.mutable_time_since_last_hit();
    read_table(program, table, unfiltered, each);
  }
}

void read_table_entries(RunningProgram& program, const TableEntry& wanted, const Entities& found) {
  each_entry(program, wanted, [&](TableEntry&& entry) {
    p4::v1::Entity entity;
    *entity.mutable_table_entry() = std::move(entry);
    found(std::move(entity));
  });
}

}  // namespace turntable::p4runtime_server
