#include <algorithm>
#include <nlohmann/json.hpp>

#include "bfrt/byte_string.h"
#include "bfrt_driver/entry_codec.h"
#include "bfrt_driver/table_commands.h"
#include "bfrt_driver/value_codec.h"
#include "common/command_error.h"
#include "dataplane/register_codec.h"

namespace turntable::bfrt_driver {
namespace {

using Json = nlohmann::json;
using From = SwitchCalls::From;

constexpr const char* kIndex = "$REGISTER_INDEX";
// Up to so many cells are read from hardware one by one; for more, all of a register is first made
// known to the switch's driver, which costs a fixed time.
constexpr std::size_t kFewCells = 64;

struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// The cells of a register at a switch, as softswitch's own codec sees a register, which goes over a
// range of them: what it reads comes out of what was fetched before, and what it writes or resets
// is collected.
class RemoteCells final : public dataplane::RegisterArray {
 public:
  explicit RemoteCells(const bfrt::Table& table) : table_(table) {}

  std::uint32_t size() const noexcept override { return table_.size; }
  int fields() const noexcept override { return static_cast<int>(table_.data.size()); }
  std::uint64_t raw(std::uint32_t index, int field) const override {
    touch(index);
    return values_.empty() ? 0 : values_[place(index, field)];
  }
  void set_raw(std::uint32_t index, int field, std::uint64_t bits) override {
    touch(index);
    values_.resize(std::size_t{range_.count} * table_.data.size());
    values_[place(index, field)] = bits;
  }
  void reset(std::uint32_t index) override { touch(index); }

  // The cells that the codec went over.
  Range range() const { return range_; }
  // The fields of these cells, one after the other: written by the codec, or fetched for it.
  const std::vector<std::uint64_t>& values() const { return values_; }
  void set_fetched(std::vector<std::uint64_t> values) { values_ = std::move(values); }

 private:
  void touch(std::uint32_t index) const {
    if (range_.count == 0) range_.first = index;
    range_.count = std::max(range_.count, index - range_.first + 1);
  }
  std::size_t place(std::uint32_t index, int field) const {
    return (index - range_.first) * table_.data.size() + static_cast<std::size_t>(field);
  }

  const bfrt::Table& table_;
  mutable Range range_;
  std::vector<std::uint64_t> values_;
};

const bfrt::Table& register_of(SwitchCalls& calls, const Json& args) {
  const bfrt::Table& table = calls.table_of(args);
  if (table.type != "Register")
    throw bad_argument("table " + table.name + " is of type " + table.type + ", not a Register");
  return table;
}

dataplane::TableSchema codec_schema(const bfrt::Table& table) {
  dataplane::TableSchema schema;
  schema.name = table.name;
  schema.type = table.type;
  for (const bfrt::Field& field : table.data) schema.register_widths.push_back(field.width);
  return schema;
}

// A field of a cell comes as a value of each pipe, in the order of pipes.
std::uint64_t of_pipe(const bfrt::Table& table, const bfrt_proto::TableEntry& entry,
                      const bfrt::Field& field, std::size_t pipe) {
  std::size_t pipes = 0;
  const bfrt_proto::DataField* found = nullptr;
  for (const auto& value : entry.data().fields()) {
    if (value.field_id() != field.id) continue;
    if (pipes == 0 || pipes == pipe) found = &value;
    ++pipes;
  }
  if (pipes == 1 || pipe < pipes)
    return static_cast<std::uint64_t>(to_number(field, found->stream()));
  throw CommandError("wrong_state", "register " + table.name + ": the switch gives values of " +
                                        std::to_string(pipes) + " pipes, and pipe " +
                                        std::to_string(pipe) + " is asked for; start this driver " +
                                        "with --pipe of the experiment's ports (port / 128)");
}

std::vector<std::uint64_t> fetch(SwitchCalls& calls, const bfrt::Table& table, Range range,
                                 std::size_t pipe) {
  const bool synced = range.count > kFewCells && calls.sync(table);
  const From from = synced ? From::kDriver : From::kHardware;
  const auto put_key = [&](std::size_t i, bfrt_proto::TableEntry& entry) {
    set_key(table, kIndex, range.first + i, entry);
  };
  const auto entries = range.count == table.size
                           ? calls.read_all(table, from)
                           : calls.read_some(table, range.count, put_key, from);
  const std::size_t fields = table.data.size();
  std::vector<std::uint64_t> values(std::size_t{range.count} * fields);
  std::vector<bool> there(range.count);
  for (const auto& entry : entries) {
    const std::uint64_t place = exact_key(table, kIndex, entry) - range.first;
    if (place >= range.count) continue;
    there[place] = true;
    for (std::size_t field = 0; field < fields; ++field)
      values[place * fields + field] = of_pipe(table, entry, table.data[field], pipe);
  }
  const auto missing = std::find(there.begin(), there.end(), false);
  if (missing == there.end()) return values;
  throw CommandError("internal", "register " + table.name + ": the switch left out cell " +
                                     std::to_string(range.first + (missing - there.begin())));
}

}  // namespace

// The codec goes over the arguments twice: to find out which cells are wanted, and with their
// values.
Json register_read(SwitchCalls& calls, const Json& args, std::size_t pipe) {
  const bfrt::Table& table = register_of(calls, args);
  const dataplane::TableSchema schema = codec_schema(table);
  RemoteCells cells(table);
  dataplane::RegisterCodec codec(schema, cells);
  Json empty = codec.read(args);
  if (cells.range().count == 0) return empty;
  cells.set_fetched(fetch(calls, table, cells.range(), pipe));
  return codec.read(args);
}

Json register_write(SwitchCalls& calls, const Json& args) {
  const bfrt::Table& table = register_of(calls, args);
  const dataplane::TableSchema schema = codec_schema(table);
  RemoteCells cells(table);
  Json answer = dataplane::RegisterCodec(schema, cells).write(args);
  auto request = SwitchCalls::write_request();
  const std::size_t fields = table.data.size();
  for (std::size_t i = 0; i < cells.values().size(); i += fields) {
    auto& entry = new_update(request, table, bfrt_proto::Update::MODIFY);
    set_key(table, kIndex, cells.range().first + i / fields, entry);
    for (std::size_t field = 0; field < fields; ++field) {
      auto& value = *entry.mutable_data()->add_fields();
      value.set_field_id(table.data[field].id);
      value.set_stream(bfrt::to_byte_string(cells.values()[i + field], table.data[field].width));
    }
  }
  calls.write(request);
  return answer;
}

Json register_clear(SwitchCalls& calls, const Json& args) {
  auto request = SwitchCalls::write_request();
  if (!args.contains("table")) {
    for (const bfrt::Table& table : calls.schema().of_program().tables()) {
      if (table.type == "Register") new_update(request, table, bfrt_proto::Update::DELETE);
    }
    calls.write(request);
    return Json::object();
  }
  const bfrt::Table& table = register_of(calls, args);
  const dataplane::TableSchema schema = codec_schema(table);
  RemoteCells cells(table);
  Json answer = dataplane::RegisterCodec(schema, cells).clear(args);
  const Range range = cells.range();
  if (range.count == table.size) {
    new_update(request, table, bfrt_proto::Update::DELETE);
  } else {
    for (std::uint32_t i = 0; i < range.count; ++i) {
      set_key(table, kIndex, range.first + i,
              new_update(request, table, bfrt_proto::Update::DELETE));
    }
  }
  calls.write(request);
  return answer;
}

}  // namespace turntable::bfrt_driver
