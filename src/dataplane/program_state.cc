// What a ProgramControl has that its program did not begin with, for another program.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "dataplane/filter_codec.h"
#include "dataplane/hash_state.h"
#include "dataplane/program_control.h"
#include "dataplane/table_state.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

const char* name_of_kind(MeterUnit unit) {
  return unit == MeterUnit::kBytes ? "meter of bytes" : "meter of packets";
}

const char* name_of_kind(FilterKind kind) {
  return kind == FilterKind::kLpf ? "Lpf" : "Wred";
}

// [packets, bytes, packets, …]; null: nothing was counted.
Json counts_of(Counter& counter) {
  Json counts = Json::array();
  bool has_any = false;
  for (std::uint32_t index = 0; index < counter.size(); ++index) {
    const Counter::Cell& cell = counter.cell(index);
    has_any |= cell.packets != 0 || cell.bytes != 0;
    counts.push_back(cell.packets);
    counts.push_back(cell.bytes);
  }
  return has_any ? counts : Json();
}

void take_counts(Counter& counter, const Json& counts) {
  const std::size_t cells = std::min<std::size_t>(counter.size(), counts.size() / 2);
  for (std::size_t i = 0; i < cells; ++i)
    counter.cell(static_cast<std::uint32_t>(i)) = {counts[2 * i], counts[2 * i + 1]};
}

std::vector<std::uint64_t> fields_of_cell(const RegisterArray& cells, std::uint32_t index) {
  std::vector<std::uint64_t> fields(static_cast<std::size_t>(cells.fields()));
  for (std::size_t field = 0; field < fields.size(); ++field)
    fields[field] = cells.raw(index, static_cast<int>(field));
  return fields;
}

// An array tells only a cell that is back at it.
std::vector<std::uint64_t> first_value(RegisterArray& cells) {
  const std::vector<std::uint64_t> now = fields_of_cell(cells, 0);
  cells.reset(0);
  std::vector<std::uint64_t> first = fields_of_cell(cells, 0);
  for (std::size_t field = 0; field < now.size(); ++field)
    cells.set_raw(0, static_cast<int>(field), now[field]);
  return first;
}

// {"widths", "cells": [[fields], …] to the last that is not as at first}; null: none is.
Json values_of(const TableSchema& schema, RegisterArray& cells) {
  if (cells.size() == 0) return {};
  const std::vector<std::uint64_t> first = first_value(cells);
  std::uint32_t end = cells.size();
  while (end > 0 && fields_of_cell(cells, end - 1) == first) --end;
  if (end == 0) return {};
  Json values = Json::array();
  for (std::uint32_t index = 0; index < end; ++index)
    values.push_back(fields_of_cell(cells, index));
  return {{"widths", schema.register_widths}, {"cells", std::move(values)}};
}

CommandError no_place(const std::string& program, const std::string& what) {
  return state_conflict("program " + program + " has no " + what + "; reset that one first");
}

void take_values(const std::string& program, const TableSchema& schema, RegisterArray& cells,
                 const Json& values) {
  const std::string what = "register " + schema.name;
  if (schema.register_widths != values.at("widths").get<std::vector<int>>()) {
    throw state_conflict(what + ": a cell has " + Json(schema.register_widths).dump() +
                         " bits in program " + program + " instead of " +
                         values.at("widths").dump() + "; reset its cells first");
  }
  const Json& found = values.at("cells");
  if (found.size() > cells.size()) {
    throw state_conflict(what + " has " + std::to_string(cells.size()) + " cells in program " +
                         program + "; reset those behind it first, up to " +
                         std::to_string(found.size() - 1));
  }
  for (std::uint32_t index = 0; index < found.size(); ++index) {
    for (std::size_t field = 0; field < found[index].size(); ++field)
      cells.set_raw(index, static_cast<int>(field), found[index][field]);
  }
}

// {"kind", "cells": [[index, words], …] of those that are set}; null: none is.
template <typename Cells>
Json set_cells(const char* kind, std::uint32_t size, const Cells& words_if_set) {
  Json cells = Json::array();
  for (std::uint32_t index = 0; index < size; ++index)
    if (Json words = words_if_set(index); !words.is_null()) cells.push_back({index, words});
  if (cells.empty()) return {};
  return {{"kind", kind}, {"cells", std::move(cells)}};
}

Json limits_of(const Meter& meter) {
  return set_cells(name_of_kind(meter.unit()), meter.size(), [&](std::uint32_t index) -> Json {
    if (meter.cell(index).is_limited == 0) return {};
    MeterWords words{};
    store_meter(meter.cell(index), words.data());
    return words;
  });
}

Json settings_of(FilterArray& filter) {
  const FilterWords fresh = fresh_filter(filter.kind());
  return set_cells(name_of_kind(filter.kind()), filter.size(), [&](std::uint32_t index) -> Json {
    FilterWords words{};
    std::copy_n(filter.words(index), kFilterWords, words.begin());
    return words == fresh ? Json() : Json(words);
  });
}

CommandError no_cell(const std::string& program, const std::string& name, std::uint32_t size,
                     std::uint32_t index) {
  return state_conflict(name + " has " + std::to_string(size) + " cells in program " + program +
                        ", and cell " + std::to_string(index) + " is set; reset it first");
}

template <typename Put>
void take_set_cells(const std::string& program, const std::string& name, const char* kind,
                    std::uint32_t size, const Json& state, const Put& put) {
  if (kind != state.at("kind")) {
    throw state_conflict(name + " is a " + kind + " in program " + program + " instead of a " +
                         state.at("kind").get<std::string>() + "; reset its cells first");
  }
  for (const Json& cell : state.at("cells")) {
    const std::uint32_t index = cell[0];
    if (index >= size) throw no_cell(program, name, size, index);
    put(index, cell[1]);
  }
}

void put_if_any(Json& object, const std::string& name, Json state) {
  if (!state.is_null()) object[name] = std::move(state);
}

}  // namespace

const TableSchema* ProgramControl::find_schema(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? nullptr
                               : &schemas_[static_cast<std::size_t>(found - names_.begin())];
}

Json ProgramControl::read_state() {
  Json members = Json::object(), groups = Json::object(), tables = Json::object();
  Json cells = Json::object();
  for (const TableSchema& schema : schemas_) {
    const std::string& name = schema.name;
    if (Table* table = table_of(schema)) {
      put_if_any(schema.is_profile() ? members : tables, name,
                 TableState(program_, schema, *table, profiles_).read());
    } else if (schema.is_selector()) {
      if (Json found = profiles_.read(schema, EntriesAsked(Json::object())); !found.empty())
        groups[name] = std::move(found);
    } else if (const auto counter = counters_.find(name); counter != counters_.end()) {
      put_if_any(cells, name, counts_of(*counter->second));
    } else if (const auto array = registers_.find(name); array != registers_.end()) {
      put_if_any(cells, name, values_of(schema, *array->second));
    } else if (const auto meter = meters_.find(name); meter != meters_.end()) {
      put_if_any(cells, name, limits_of(*meter->second));
    } else if (const auto filter = filters_.find(name); filter != filters_.end()) {
      put_if_any(cells, name, settings_of(*filter->second));
    }
  }
  Json adjustments = Json::object();
  for (const auto& [name, meter] : meters_)
    if (meter->sets_byte_count_adjust()) adjustments[name] = meter->byte_count_adjust();
  for (const auto& [name, table] : tables_)
    if (table->sets_byte_count_adjust()) adjustments[name] = table->byte_count_adjust();
  Json hashes = Json::object();
  for (const auto& [name, hash] : hashes_) put_if_any(hashes, name, state_of(name, *hash));
  return {{"members", members},
          {"groups", groups},
          {"tables", tables},
          {"cells", cells},
          {"byte_count_adjustments", adjustments},
          {"hashes", hashes}};
}

void ProgramControl::take_state(const Json& state) {
  // Who is named comes before who names it.
  for (const auto& [name, members] : state.at("members").items()) take_table(name, members);
  for (const auto& [name, groups] : state.at("groups").items()) take_groups(name, groups);
  for (const auto& [name, table] : state.at("tables").items()) take_table(name, table);
  for (const auto& [name, cells] : state.at("cells").items()) take_cells(name, cells);
  for (const auto& [name, bytes] : state.at("byte_count_adjustments").items())
    take_byte_count_adjust(name, bytes);
  for (const auto& [name, hash] : state.at("hashes").items()) {
    const auto found = hashes_.find(name);
    if (found == hashes_.end())
      throw no_place(program_, "hash " + name + " that can be configured, and that one is");
    dataplane::take_state(name, *found->second, hash);
  }
}

void ProgramControl::take_table(const std::string& name, const Json& state) {
  const TableSchema* schema = find_schema(name);
  Table* table = schema == nullptr ? nullptr : table_of(*schema);
  if (table == nullptr) return TableState::check_removal(program_, name, state);
  TableState(program_, *schema, *table, profiles_).take(state);
}

void ProgramControl::take_groups(const std::string& name, const Json& groups) {
  const TableSchema* schema = find_schema(name);
  if (schema == nullptr || !schema->is_selector())
    throw state_conflict("program " + program_ + " has no selector " + name + ", and that has " +
                         std::to_string(groups.size()) + " groups; delete them first");
  TableBatch batch;
  for (const Json& group : groups) {
    Json update = group;
    update["op"] = "insert";
    try {
      profiles_.write(*schema, update, batch);
    } catch (const CommandError& error) {
      throw state_conflict(error.what());
    }
  }
  batch.commit();
}

void ProgramControl::take_byte_count_adjust(const std::string& name, std::int32_t bytes) {
  const auto table = tables_.find(name);
  if (const auto meter = meters_.find(name); meter != meters_.end()) {
    meter->second->set_byte_count_adjust(bytes);
  } else if (table != tables_.end() && table->second->meter_unit()) {
    table->second->set_byte_count_adjust(bytes);
  } else {
    throw state_conflict("program " + program_ + " has no meter " + name +
                         ", whose byte_count_adjust is set; set it to what it was first");
  }
}

// Whoever is not there any more: nobody is forwarded by counts, by the others packets are.
void ProgramControl::take_cells(const std::string& name, const Json& state) {
  const bool has_counts = state.is_array();
  if (const auto counter = counters_.find(name); counter != counters_.end() && has_counts)
    return take_counts(*counter->second, state);
  if (has_counts) return;
  if (const auto array = registers_.find(name);
      array != registers_.end() && state.contains("widths"))
    return take_values(program_, *find_schema(name), *array->second, state);
  if (state.contains("widths"))
    throw no_place(program_, "register " + name + ", whose cells are not as at first");
  const std::string kind = state.at("kind");
  if (const auto found = meters_.find(name); found != meters_.end()) {
    Meter& meter = *found->second;
    return take_set_cells(program_, name, name_of_kind(meter.unit()), meter.size(), state,
                          [&](std::uint32_t index, const Json& words) {
                            meter.put_back(index, load_meter(words.get<MeterWords>().data()));
                          });
  }
  if (const auto found = filters_.find(name); found != filters_.end()) {
    FilterArray& filter = *found->second;
    return take_set_cells(program_, name, name_of_kind(filter.kind()), filter.size(), state,
                          [&](std::uint32_t index, const Json& words) {
                            const auto given = words.get<FilterWords>();
                            std::copy(given.begin(), given.end(), filter.words(index));
                          });
  }
  throw no_place(program_, kind + " " + name + ", of which cells are set");
}

}  // namespace turntable::dataplane
