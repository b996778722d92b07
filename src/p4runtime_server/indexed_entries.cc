#include "p4runtime_server/indexed_entries.h"

#include "common/command_error.h"
#include "p4runtime_server/bytestring.h"
#include "p4runtime_server/counter_data.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::Update;

void check_modify(Update::Type type, const std::string& what) {
  if (type != Update::MODIFY)
    throw invalid(what + ": cells are always there; they can only be modified");
}

std::int64_t index_of(const p4::v1::Index& index, std::int64_t size, const std::string& what) {
  if (index.index() < 0 || index.index() >= size) {
    throw out_of_range(what + ": index " + std::to_string(index.index()) + "; expected 0 to " +
                       std::to_string(size - 1));
  }
  return index.index();
}

std::string name_of(const config::Counter& counter) {
  return "counter " + counter.preamble().name();
}

std::string name_of(const config::Register& cells) {
  return "register " + cells.preamble().name();
}

// A value of a cell: bits of a bit<W> or int<W>.
int width_of(const config::P4BitstringLikeTypeSpec& type) {
  return type.has_int_() ? type.int_().bitwidth() : type.bit().bitwidth();
}

// The widths of a cell's one or two values.
std::vector<int> widths_of(const config::P4Info& info, const config::Register& cells) {
  const config::P4DataTypeSpec& type = cells.type_spec();
  if (type.has_bitstring()) return {width_of(type.bitstring())};
  if (!type.has_struct_()) throw not_supported(name_of(cells) + ": cells of this type");
  std::vector<int> widths;
  for (const auto& member : info.type_info().structs().at(type.struct_().name()).members())
    widths.push_back(width_of(member.type_spec().bitstring()));
  return widths;
}

p4::v1::P4Data data_of(const Json& value, const std::vector<int>& widths) {
  p4::v1::P4Data data;
  if (widths.size() == 1) {
    data.set_bitstring(bytestring_of(value, widths[0]));
    return data;
  }
  for (std::size_t i = 0; i < widths.size(); ++i)
    data.mutable_struct_()->add_members()->set_bitstring(bytestring_of(value.at(i), widths[i]));
  return data;
}

Json value_in(const p4::v1::P4Data& data, const std::vector<int>& widths, const std::string& what) {
  if (widths.size() == 1) {
    if (!data.has_bitstring()) throw invalid(what + ": expected a bitstring");
    return value_of(data.bitstring(), widths[0], what);
  }
  if (!data.has_struct_() || data.struct_().members_size() != static_cast<int>(widths.size()))
    throw invalid(what + ": expected a struct of " + std::to_string(widths.size()));
  Json values = Json::array();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string& bytes = data.struct_().members(static_cast<int>(i)).bitstring();
    values.push_back(value_of(bytes, widths[i], what));
  }
  return values;
}

void read_register(RunningProgram& program, const config::Register& cells,
                   const p4::v1::RegisterEntry& wanted, const Entities& found) {
  const ProgramInfo& info = program.info();
  const std::vector<int> widths = widths_of(info.document(), cells);
  Json command = {{"table", info.on_switch(cells.preamble())}};
  std::int64_t index = 0;
  if (wanted.has_index()) {
    index = index_of(wanted.index(), cells.size(), name_of(cells));
    command["first"] = index;
    command["count"] = 1;
  }
  const Json result = program.link().call("register_read", command);
  for (const Json& value : result.at("values")) {
    p4::v1::Entity entity;
    p4::v1::RegisterEntry& entry = *entity.mutable_register_entry();
    entry.set_register_id(cells.preamble().id());
    entry.mutable_index()->set_index(index++);
    *entry.mutable_data() = data_of(value, widths);
    found(std::move(entity));
  }
}

void read_counter(RunningProgram& program, const config::Counter& counter,
                  const p4::v1::CounterEntry& wanted, const Entities& found) {
  Json command = {{"table", program.info().on_switch(counter.preamble())}};
  if (wanted.has_index())
    command["index"] = index_of(wanted.index(), counter.size(), name_of(counter));
  const Json result = program.link().call("counter_read", command);
  for (const Json& cell : result.at("counters")) {
    p4::v1::Entity entity;
    p4::v1::CounterEntry& entry = *entity.mutable_counter_entry();
    entry.set_counter_id(counter.preamble().id());
    entry.mutable_index()->set_index(cell.at("index"));
    *entry.mutable_data() = counter_data(counter.spec(), cell);
    found(std::move(entity));
  }
}

}  // namespace

void write_counter(RunningProgram& program, Update::Type type, const p4::v1::CounterEntry& entry) {
  const ProgramInfo& info = program.info();
  const config::Counter& counter = info.counter(entry.counter_id());
  check_modify(type, name_of(counter));
  if (!entry.has_index()) throw invalid(name_of(counter) + ": the index is missing");
  Json data = Json::object();
  put_counter_data(counter.spec(), entry.data(), data);
  program.link().call("counter_write",
                      {{"table", info.on_switch(counter.preamble())},
                       {"index", index_of(entry.index(), counter.size(), name_of(counter))},
                       {"data", data}});
}

void write_register(RunningProgram& program, Update::Type type,
                    const p4::v1::RegisterEntry& entry) {
  const ProgramInfo& info = program.info();
  const config::Register& cells = info.register_of(entry.register_id());
  check_modify(type, name_of(cells));
  if (!entry.has_index()) throw invalid(name_of(cells) + ": the index is missing");
  const Json value = value_in(entry.data(), widths_of(info.document(), cells), name_of(cells));
  program.link().call("register_write",
                      {{"table", info.on_switch(cells.preamble())},
                       {"first", index_of(entry.index(), cells.size(), name_of(cells))},
                       {"values", Json::array({value})}});
}

void read_counters(RunningProgram& program, const p4::v1::CounterEntry& wanted,
                   const Entities& found) {
  if (wanted.counter_id() != 0)
    return read_counter(program, program.info().counter(wanted.counter_id()), wanted, found);
  for (const config::Counter& counter : program.info().document().counters())
    read_counter(program, counter, {}, found);
}

void read_registers(RunningProgram& program, const p4::v1::RegisterEntry& wanted,
                    const Entities& found) {
  if (wanted.register_id() != 0)
    return read_register(program, program.info().register_of(wanted.register_id()), wanted, found);
  for (const config::Register& cells : program.info().document().registers())
    read_register(program, cells, {}, found);
}

}  // namespace turntable::p4runtime_server
