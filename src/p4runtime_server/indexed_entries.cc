#include "p4runtime_server/indexed_entries.h"

#include "p4runtime_server/counter_data.h"
#include "p4runtime_server/meter_data.h"
#include "p4runtime_server/refusal.h"
#include "p4runtime_server/typed_data.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::Update;

void check_modify(Update::Type type, const std::string& what) {
  if (type != Update::MODIFY)
    throw invalid(what + ": cells are always there; they can only be modified");
}

std::int64_t index_of(const p4::v1::Index& index, std::int64_t size, const std::string& what) {
  if (index.index() < 0)
    throw invalid(what + ": index " + std::to_string(index.index()) + " is negative");
  if (index.index() >= size) {
    throw out_of_range(what + ": index " + std::to_string(index.index()) + "; expected 0 to " +
                       std::to_string(size - 1));
  }
  return index.index();
}

// Of an entry without an index, all: the first, and the one behind the last.
template <typename Entry>
std::pair<std::int64_t, std::int64_t> cells_of(const Entry& entry, std::int64_t size,
                                               const std::string& what) {
  if (!entry.has_index()) return {0, size};
  const std::int64_t index = index_of(entry.index(), size, what);
  return {index, index + 1};
}

std::string name_of(const config::Counter& counter) {
  return "counter " + counter.preamble().name();
}

std::string name_of(const config::Meter& meter) {
  return "meter " + meter.preamble().name();
}

std::string name_of(const config::Register& cells) {
  return "register " + cells.preamble().name();
}

// All cells, or those of an index that is added.
Json modify(const ProgramInfo& info, const config::Preamble& preamble) {
  return {{"table", info.on_switch(preamble)}, {"op", "modify"}};
}

void read_register(RunningProgram& program, const config::Register& cells,
                   const p4::v1::RegisterEntry& wanted, const Entities& found) {
  const ProgramInfo& info = program.info();
  const std::vector<NumberType> types = types_of(info.document(), cells.type_spec());
  // A register has a value in each pipe, of which P4Runtime knows one.
  Json command = {{"table", info.on_switch(cells.preamble())}, {"pipes", {0}}};
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
    *entry.mutable_data() = data_of(value, types);
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

// `data` is null where the cell has no limits.
void give_meter(const config::Meter& meter, const Json& index, const Json& data,
                const Entities& found) {
  p4::v1::Entity entity;
  p4::v1::MeterEntry& entry = *entity.mutable_meter_entry();
  entry.set_meter_id(meter.preamble().id());
  entry.mutable_index()->set_index(index);
  if (!data.is_null()) *entry.mutable_config() = meter_config(meter.spec(), data).value();
  found(std::move(entity));
}

void read_meter(RunningProgram& program, const config::Meter& meter,
                const p4::v1::MeterEntry& wanted, const Entities& found) {
  Json command = {{"table", program.info().on_switch(meter.preamble())}};
  if (wanted.has_index()) {
    command["index"] = index_of(wanted.index(), meter.size(), name_of(meter));
    const Json cell = program.link().call("meter_read", command);
    return give_meter(meter, cell.at("index"), cell.at("data"), found);
  }
  const Json result = program.link().call("meter_read", command);
  for (const Json& cell : result.at("meters"))
    give_meter(meter, cell.at("index"), cell.at("data"), found);
}

}  // namespace

SwitchUpdate write_counter(const ProgramInfo& info, Update::Type type,
                           const p4::v1::CounterEntry& entry) {
  const config::Counter& counter = info.counter(entry.counter_id());
  check_modify(type, name_of(counter));
  Json update = modify(info, counter.preamble());
  if (entry.has_index())
    update["index"] = index_of(entry.index(), counter.size(), name_of(counter));
  if (!entry.has_data()) return {Json::array()};  // as they are
  put_counter_data(counter.spec(), entry.data(), update["data"]);
  return {std::move(update)};
}

SwitchUpdate write_meter(const ProgramInfo& info, Update::Type type,
                         const p4::v1::MeterEntry& entry) {
  const config::Meter& meter = info.meter(entry.meter_id());
  check_modify(type, name_of(meter));
  refuse_color_counters(entry.has_counter_data());
  Json update = modify(info, meter.preamble());
  if (entry.has_index()) update["index"] = index_of(entry.index(), meter.size(), name_of(meter));
  const auto* config = entry.has_config() ? &entry.config() : nullptr;
  update["data"] = meter_fields(meter.spec(), config, name_of(meter));
  return {std::move(update)};
}

SwitchUpdate write_register(const ProgramInfo& info, Update::Type type,
                            const p4::v1::RegisterEntry& entry) {
  const config::Register& cells = info.register_of(entry.register_id());
  check_modify(type, name_of(cells));
  const auto [first, end] = cells_of(entry, cells.size(), name_of(cells));
  const Json value =
      value_in(entry.data(), types_of(info.document(), cells.type_spec()), name_of(cells));
  Json update = modify(info, cells.preamble());
  update["first"] = first;
  update["values"] = Json::array_t(static_cast<std::size_t>(end - first), value);
  return {std::move(update)};
}

void read_counters(RunningProgram& program, const p4::v1::CounterEntry& wanted,
                   const Entities& found) {
  if (wanted.counter_id() != 0)
    return read_counter(program, program.info().counter(wanted.counter_id()), wanted, found);
  for (const config::Counter& counter : program.info().document().counters())
    read_counter(program, counter, {}, found);
}

void read_meters(RunningProgram& program, const p4::v1::MeterEntry& wanted, const Entities& found) {
  refuse_color_counters(wanted.has_counter_data());
  if (wanted.meter_id() != 0)
    return read_meter(program, program.info().meter(wanted.meter_id()), wanted, found);
  for (const config::Meter& meter : program.info().document().meters())
    read_meter(program, meter, {}, found);
}

void read_registers(RunningProgram& program, const p4::v1::RegisterEntry& wanted,
                    const Entities& found) {
  if (wanted.register_id() != 0)
    return read_register(program, program.info().register_of(wanted.register_id()), wanted, found);
  for (const config::Register& cells : program.info().document().registers())
    read_register(program, cells, {}, found);
}

}  // namespace turntable::p4runtime_server
