#include "p4runtime_server/direct_entries.h"

#include "p4runtime_server/counter_data.h"
#include "p4runtime_server/direct_resources.h"
#include "p4runtime_server/entry_values.h"
#include "p4runtime_server/meter_data.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::Entity;
using p4::v1::TableEntry;
using p4::v1::Update;

// An update of an entry that leaves its action as it is.
Json direct_update(const ProgramInfo& info, Update::Type type, const config::Table& table,
                   const TableEntry& entry) {
  if (type != Update::MODIFY)
    throw invalid(in(table) + ": counters and meters are there with their entry; modify them");
  if (entry.is_default_action()) {
    check_default_place(table, entry);
    return {{"table", info.on_switch(table.preamble())}, {"op", "set_default"}};
  }
  Json update = place_of(info, table, entry);
  update["op"] = "modify";
  return update;
}

// What says which entry it is.
TableEntry name_of(const TableEntry& entry) {
  TableEntry name;
  name.set_table_id(entry.table_id());
  *name.mutable_match() = entry.match();
  name.set_priority(entry.priority());
  name.set_is_default_action(entry.is_default_action());
  return name;
}

// `put` makes the entity of an entry; false: its table has no such counter or meter. Throws Refusal
// NOT_FOUND where one entry is asked for that is not there.
template <typename Put>
void read_direct(RunningProgram& program, const TableEntry& filter, const Entities& found,
                 const Put& put) {
  bool is_found = false;
  each_entry(program, filter, [&](TableEntry&& entry) {
    Entity entity;
    if (!put(entry, entity)) return;
    is_found = true;
    found(std::move(entity));
  });
  if (!is_found && !filter.match().empty()) {
    throw not_found(in(program.info().table(filter.table_id())) + ": there is no such entry");
  }
}

}  // namespace

SwitchUpdate write_direct_counter(RunningProgram& program, Update::Type type,
                                  const p4::v1::DirectCounterEntry& entry) {
  const ProgramInfo& info = program.info();
  const config::Table& table = info.table(entry.table_entry().table_id());
  const config::DirectCounter& counter = need_counter(info, table);
  Json update = direct_update(info, type, table, entry.table_entry());
  if (entry.has_data()) put_counter_data(counter.spec(), entry.data(), update["data"]);
  return {std::move(update)};
}

SwitchUpdate write_direct_meter(RunningProgram& program, Update::Type type,
                                const p4::v1::DirectMeterEntry& entry) {
  const ProgramInfo& info = program.info();
  const config::Table& table = info.table(entry.table_entry().table_id());
  const config::DirectMeter& meter = need_meter(info, table);
  refuse_color_counters(entry.has_counter_data());
  Json update = direct_update(info, type, table, entry.table_entry());
  const auto* config = entry.has_config() ? &entry.config() : nullptr;
  update["data"] = meter_fields(meter.spec(), config, in(table));
  return {std::move(update)};
}

void read_direct_counters(RunningProgram& program, const p4::v1::DirectCounterEntry& wanted,
                          const Entities& found) {
  const ProgramInfo& info = program.info();
  TableEntry filter = wanted.table_entry();
  filter.mutable_counter_data();
  if (filter.table_id() != 0) need_counter(info, info.table(filter.table_id()));
  read_direct(program, filter, found, [&](const TableEntry& entry, Entity& entity) {
    if (!entry.has_counter_data()) return false;
    p4::v1::DirectCounterEntry& counter = *entity.mutable_direct_counter_entry();
    *counter.mutable_table_entry() = name_of(entry);
    *counter.mutable_data() = entry.counter_data();
    return true;
  });
}

void read_direct_meters(RunningProgram& program, const p4::v1::DirectMeterEntry& wanted,
                        const Entities& found) {
  const ProgramInfo& info = program.info();
  refuse_color_counters(wanted.has_counter_data());
  TableEntry filter = wanted.table_entry();
  filter.mutable_meter_config();
  if (filter.table_id() != 0) need_meter(info, info.table(filter.table_id()));
  read_direct(program, filter, found, [&](const TableEntry& entry, Entity& entity) {
    if (info.direct_meter(info.table(entry.table_id())) == nullptr) return false;
    p4::v1::DirectMeterEntry& meter = *entity.mutable_direct_meter_entry();
    *meter.mutable_table_entry() = name_of(entry);
    if (entry.has_meter_config()) *meter.mutable_config() = entry.meter_config();
    return true;
  });
}

}  // namespace turntable::p4runtime_server
