#include "p4runtime_server/table_entries.h"

#include <algorithm>

#include "p4runtime_server/counter_data.h"
#include "p4runtime_server/entry_values.h"
#include "p4runtime_server/profile_fields.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::TableEntry;
using p4::v1::Update;

std::string in(const config::Table& table) {
  return "table " + table.preamble().name();
}

// The counter of a table's entries. nullptr: they have none.
const config::DirectCounter* counter_of(const ProgramInfo& info, const config::Table& table) {
  for (const config::DirectCounter& counter : info.document().direct_counters()) {
    if (counter.direct_table_id() == table.preamble().id()) return &counter;
  }
  return nullptr;
}

const config::DirectCounter& need_counter(const ProgramInfo& info, const config::Table& table) {
  const config::DirectCounter* counter = counter_of(info, table);
  if (counter == nullptr) throw invalid(in(table) + " has no direct counter");
  return *counter;
}

// {"table", "key", ["priority"]}
Json place_of(const ProgramInfo& info, const config::Table& table, const TableEntry& entry) {
  if (table.match_fields().empty()) throw invalid(in(table) + " has no key, so it has no entries");
  Json place = {{"table", info.on_switch(table.preamble())}, {"key", key_of(table, entry)}};
  const std::uint32_t priority = switch_priority(table, entry.priority());
  if (has_priority(table)) place["priority"] = priority;
  return place;
}

// What the notes of an entry are found by: what softswitch would say of it.
std::string identity(const config::Table& table, const TableEntry& entry) {
  TableEntry place;
  place.set_table_id(table.preamble().id());
  place.set_priority(entry.priority());
  place.set_is_default_action(entry.is_default_action());
  if (!entry.is_default_action()) put_key(table, full_key(table, key_of(table, entry)), place);
  return place.SerializeAsString();
}

void refuse_what_is_not_there(const config::Table& table, const TableEntry& entry) {
  if (entry.has_meter_config() || entry.has_meter_counter_data())
    throw not_supported(in(table) + ": direct meters cannot be written here yet");
  if (entry.idle_timeout_ns() != 0 || entry.has_time_since_last_hit())
    throw invalid(in(table) + " has no idle time-out");
  if (entry.is_const()) throw invalid(in(table) + ": is_const is not the client's to set");
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
  const bool has_selector = info.profile(table.implementation_id()).with_selector();
  switch (given.type_case()) {
    case p4::v1::TableAction::kActionProfileMemberId:
      update["data"] = {{kMember, given.action_profile_member_id()}};
      return;
    case p4::v1::TableAction::kActionProfileGroupId:
      if (!has_selector) break;
      update["data"] = {{kGroup, given.action_profile_group_id()}};
      return;
    case p4::v1::TableAction::kActionProfileActionSet:
      throw not_supported(in(table) + ": one-shot programming; write members and a group");
    default:
      break;
  }
  throw invalid(in(table) + ": its entries name a member" + (has_selector ? " or a group" : "") +
                " of its action profile");
}

// The member or group that an entry names now. Throws Refusal NOT_FOUND.
Json named_by(RunningProgram& program, const Json& update) {
  const auto table = update.at("table").get<std::string>();
  Json place = {{"key", update.at("key")}};
  if (update.contains("priority")) place["priority"] = update.at("priority");
  const Json result =
      program.link().call("table_read", {{"table", table}, {"entries", Json::array({place})}});
  const Json& found = result.at("entries").at(0);
  if (found.is_null()) throw not_found(table + ": there is no such entry");
  const char* field = found.at("data").contains(kGroup) ? kGroup : kMember;
  return {{field, found.at("data").at(field)}};
}

SwitchUpdate write_default(RunningProgram& program, Update::Type type, const config::Table& table,
                           const TableEntry& entry) {
  const ProgramInfo& info = program.info();
  if (type != Update::MODIFY)
    throw invalid(in(table) + ": the default entry is always there; it can only be modified");
  if (!entry.match().empty() || entry.priority() != 0)
    throw invalid(in(table) + ": the default entry has neither a key nor a priority");
  if (table.const_default_action_id() != 0)
    throw denied(in(table) + ": its default action is a constant of the program");
  if (table.implementation_id() != 0)
    throw not_supported(in(table) + ": the default action beside an action profile stays");
  if (entry.has_counter_data())
    throw not_supported(in(table) + ": the default entry's counter cannot be written");
  Json update = {{"table", info.on_switch(table.preamble())}, {"op", "reset_default"}};
  if (entry.has_action()) {
    update["op"] = "set_default";
    put_action_into(info, table, entry.action(), config::ActionRef::TABLE_ONLY, update);
  }
  EntryNotes notes{entry.metadata(), entry.controller_metadata()};
  return {std::move(update),
          [&program, place = identity(table, entry), notes] { program.note(place, notes); }};
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

void put_found_action(const ProgramInfo& info, const config::Table& table, const Json& found,
                      TableEntry& entry) {
  const Json& data = found.at("data");
  if (table.implementation_id() == 0) {
    const config::Action& action = info.action(found.at("action").get<std::string>());
    put_action(action, data, *entry.mutable_action()->mutable_action());
  } else if (data.contains(kGroup)) {
    entry.mutable_action()->set_action_profile_group_id(data.at(kGroup));
  } else {
    entry.mutable_action()->set_action_profile_member_id(data.at(kMember));
  }
}

void read_table(RunningProgram& program, const config::Table& table, const TableEntry& wanted,
                const std::function<void(TableEntry&&)>& each) {
  const ProgramInfo& info = program.info();
  const config::DirectCounter* counter = counter_of(info, table);
  const auto give = [&](const Json& found, bool is_default) {
    TableEntry entry;
    entry.set_table_id(table.preamble().id());
    entry.set_is_default_action(is_default);
    if (!is_default) put_key(table, found.at("key"), entry);
    if (found.contains("priority")) entry.set_priority(client_priority(found.at("priority")));
    const EntryNotes notes = program.notes(entry.SerializeAsString());
    put_found_action(info, table, found, entry);
    entry.set_metadata(notes.metadata);
    entry.set_controller_metadata(notes.controller_metadata);
    entry.set_is_const(!is_default && table.is_const_table());
    if (wanted.has_counter_data() && counter != nullptr)
      *entry.mutable_counter_data() = counter_data(counter->spec(), found.at("data"));
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

void read_all(RunningProgram& program, const TableEntry& wanted,
              const std::function<void(TableEntry&&)>& each) {
  const ProgramInfo& info = program.info();
  if (wanted.table_id() != 0)
    return read_table(program, info.table(wanted.table_id()), wanted, each);
  TableEntry unfiltered;
  if (wanted.has_counter_data()) *unfiltered.mutable_counter_data() = wanted.counter_data();
  unfiltered.set_is_default_action(wanted.is_default_action());
  for (const config::Table& table : info.document().tables())
    read_table(program, table, unfiltered, each);
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
  if (table.is_const_table() &&
      (type != Update::MODIFY || entry.has_action() || !entry.has_counter_data())) {
    throw denied(in(table) + ": its entries are constants of the program");
  }
  if (type == Update::DELETE) {
    update["op"] = "delete";
    return {std::move(update), [&program, place] { program.forget(place); }};
  }
  update["op"] = type == Update::INSERT ? "insert" : "modify";
  if (type == Update::MODIFY && !entry.has_action()) {
    if (table.implementation_id() != 0) update["data"] = named_by(program, update);
  } else {
    put_action_into(info, table, entry.action(), config::ActionRef::DEFAULT_ONLY, update);
  }
  if (entry.has_counter_data())
    put_counter_data(need_counter(info, table).spec(), entry.counter_data(), update["data"]);
  EntryNotes notes{entry.metadata(), entry.controller_metadata()};
  return {std::move(update), [&program, place, notes] { program.note(place, notes); }};
}

SwitchUpdate write_direct_counter(RunningProgram& program, Update::Type type,
                                  const p4::v1::DirectCounterEntry& entry) {
  const ProgramInfo& info = program.info();
  const config::Table& table = info.table(entry.table_entry().table_id());
  const config::DirectCounter& counter = need_counter(info, table);
  if (type != Update::MODIFY)
    throw invalid(in(table) + ": direct counters are there with their entry; modify them");
  if (entry.table_entry().is_default_action())
    throw not_supported(in(table) + ": the default entry's counter cannot be written");
  Json update = place_of(info, table, entry.table_entry());
  update["op"] = "modify";
  if (entry.has_data()) put_counter_data(counter.spec(), entry.data(), update["data"]);
  return {std::move(update)};
}

void read_table_entries(RunningProgram& program, const TableEntry& wanted, const Entities& found) {
  read_all(program, wanted, [&](TableEntry&& entry) {
    p4::v1::Entity entity;
    *entity.mutable_table_entry() = std::move(entry);
    found(std::move(entity));
  });
}

void read_direct_counters(RunningProgram& program, const p4::v1::DirectCounterEntry& wanted,
                          const Entities& found) {
  const ProgramInfo& info = program.info();
  TableEntry filter = wanted.table_entry();
  filter.mutable_counter_data();
  if (filter.table_id() != 0) need_counter(info, info.table(filter.table_id()));
  bool is_found = false;
  read_all(program, filter, [&](TableEntry&& entry) {
    if (!entry.has_counter_data()) return;  // a table without, of all
    is_found = true;
    p4::v1::Entity entity;
    p4::v1::DirectCounterEntry& counter = *entity.mutable_direct_counter_entry();
    *counter.mutable_data() = entry.counter_data();
    counter.mutable_table_entry()->set_table_id(entry.table_id());
    *counter.mutable_table_entry()->mutable_match() = entry.match();
    counter.mutable_table_entry()->set_priority(entry.priority());
    counter.mutable_table_entry()->set_is_default_action(entry.is_default_action());
    found(std::move(entity));
  });
  if (!is_found && !filter.match().empty())
    throw not_found(in(info.table(filter.table_id())) + ": there is no such entry");
}

}  // namespace turntable::p4runtime_server
