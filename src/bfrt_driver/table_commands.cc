#include "bfrt_driver/table_commands.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "bfrt_driver/call_errors.h"
#include "bfrt_driver/entry_codec.h"
#include "bfrt_driver/value_codec.h"
#include "common/command_error.h"
#include "dataplane/values.h"

namespace turntable::bfrt_driver {
namespace {

using Json = nlohmann::json;
using From = SwitchCalls::From;

constexpr const char* kCounterIndex = "$COUNTER_INDEX";
constexpr const char* kMeterIndex = "$METER_INDEX";

const bfrt::Table& of_type(const bfrt::Table& table, const char* type) {
  if (table.type == type) return table;
  throw bad_argument("table " + table.name + " is of type " + table.type + ", not a " + type);
}

std::uint64_t index_of(const bfrt::Table& table, const Json& args) {
  const std::string what = table.type + " " + table.name + ", index";
  if (!args.contains("index")) throw bad_argument(what + " is missing");
  const auto index = static_cast<std::uint64_t>(dataplane::parse_value(args["index"], 32, what));
  if (index < table.size) return index;
  throw bad_argument(what + " " + std::to_string(index) + " is not below its size " +
                     std::to_string(table.size));
}

// What reads of it see is what the hardware has.
From synced(SwitchCalls& calls, const bfrt::Table& table) {
  return calls.sync(table) ? From::kDriver : From::kHardware;
}

// Counts that the hardware has now, for each entry and the default one.
using TakeCounts = std::function<void(const bfrt_proto::TableEntry&, const Json& counts)>;

void read_counts(SwitchCalls& calls, const bfrt::Table& table, const TakeCounts& take) {
  const From from = synced(calls, table);
  for (const auto& entry : calls.read_all(table, from)) take(entry, counts_of(table, entry));
  for (auto& entry : calls.read_default(table, from)) {
    entry.set_is_default_entry(true);
    take(entry, counts_of(table, entry));
  }
}

// A counter is cleared at the switch; counts beside entries cannot be.
void clear_counts(SwitchCalls& calls, const bfrt::Table& table, CountsSince& since,
                  bfrt_proto::WriteRequest& request) {
  if (table.type == "Counter") {
    new_update(request, table, bfrt_proto::Update::DELETE);
    return;
  }
  read_counts(calls, table, [&](const bfrt_proto::TableEntry& entry, const Json& counts) {
    since.clear(calls.connection().epoch(), entry, counts);
  });
}

}  // namespace

Json table_write(SwitchCalls& calls, const Json& args, CountsSince& since) {
  const auto updates = args.find("updates");
  if (updates == args.end() || !updates->is_array())
    throw bad_argument("table_write: \"updates\" is missing; expected an array of updates");
  google::protobuf::Arena arena;
  auto& request = SwitchCalls::write_request(arena, bfrt_proto::WriteRequest::ROLLBACK_ON_ERROR);
  // Of each update of the request, among those of the command, where a row of columns is one.
  struct Place {
    std::size_t update;
    std::optional<std::size_t> row;
  };
  std::vector<Place> places;
  const auto failure = [](const CommandError& error, const Place& place) {
    const std::string row = place.row ? "row " + std::to_string(*place.row) + ": " : "";
    return CommandError(error.code(), "updates[" + std::to_string(place.update) + "]: " + row +
                                          error.what() + " (no update of this batch was applied)");
  };
  const SwitchSchema& schema = calls.schema();
  for (std::size_t i = 0; i < updates->size(); ++i) {
    try {
      add_update(schema, (*updates)[i], request);
    } catch (const CommandError& error) {
      throw failure(error, {.update = i, .row = std::nullopt});
    }
    const bool rows = has_columns((*updates)[i]);
    const auto end = static_cast<std::size_t>(request.updates_size());
    for (std::size_t row = 0; places.size() < end; ++row)
      places.push_back({.update = i, .row = rows ? std::optional(row) : std::nullopt});
  }
  try {
    calls.write(request);
  } catch (const UpdateError& error) {
    throw failure(error, places.at(error.update()));
  }
  since.applied(request);
  return {{"applied", updates->size()}};
}

Json table_read(SwitchCalls& calls, const Json& args, const CountsSince& since) {
  const bfrt::Table& table = calls.table_of(args);
  if (!is_fixed(table) && !is_match_action(table)) {
    throw bad_argument("table " + table.name + " is of type " + table.type +
                       ", not a match-action table; use the commands counter_…, register_… or "
                       "meter_…");
  }
  const From from = counts(table) ? synced(calls, table) : From::kDriver;
  const auto described = [&](const bfrt_proto::TableEntry& entry) {
    Json json = entry_of(table, entry);
    if (counts(table)) {
      json["data"].update(since.since(calls.connection().epoch(), entry, counts_of(table, entry)));
    }
    return json;
  };
  Json entries = Json::array();
  for (const auto& entry : calls.read_all(table, from)) entries.push_back(described(entry));
  Json answer = {{"table", table.name}, {"entries", std::move(entries)}};
  if (is_fixed(table)) return answer;
  answer["default"] = {{"action", nullptr}, {"data", Json::object()}};
  for (auto& entry : calls.read_default(table, from)) {
    entry.set_is_default_entry(true);
    answer["default"] = described(entry);
  }
  return answer;
}

Json table_info(SwitchCalls& calls, const Json& args) {
  const bfrt::Table& table = calls.table_of(args);
  Json info = {{"table", table.name}, {"type", table.type}, {"size", table.size}};
  if (is_match_action(table)) info["entries"] = calls.usage(table);
  for (const Json& document : calls.schema().document().at("tables")) {
    if (document.at("name") == table.name) info["schema"] = document;
  }
  return info;
}

Json counter_read(SwitchCalls& calls, const Json& args, const CountsSince& since) {
  const bfrt::Table& table = calls.table_of(args);
  if (!counts(table)) {
    throw bad_argument("table " + table.name + " of type " + table.type +
                       " has no direct counter; add `counters = …` to it in P4");
  }
  Json counters = Json::array();
  if (table.type != "Counter") {
    Json of_default = Json::object();
    read_counts(calls, table, [&](const bfrt_proto::TableEntry& entry, const Json& now) {
      Json value = since.since(calls.connection().epoch(), entry, now);
      if (entry.is_default_entry()) {
        of_default = std::move(value);
        return;
      }
      value["key"] = key_of(table, entry);
      counters.push_back(std::move(value));
    });
    return {{"table", table.name}, {"counters", counters}, {"default", of_default}};
  }
  SwitchCalls::Entries cells;
  if (args.contains("index")) {
    const std::uint64_t index = index_of(table, args);
    const auto put_key = [&](std::size_t, bfrt_proto::TableEntry& entry) {
      set_key(table, kCounterIndex, index, entry);
    };
    cells = calls.read_some(table, 1, put_key, From::kHardware);
  } else {
    cells = calls.read_all(table, synced(calls, table));
  }
  for (const auto& cell : cells) {
    Json value = counts_of(table, cell);
    value["index"] = exact_key(table, kCounterIndex, cell);
    counters.push_back(std::move(value));
  }
  return {{"table", table.name}, {"counters", std::move(counters)}};
}

Json counter_clear(SwitchCalls& calls, const Json& args, CountsSince& since) {
  auto request = SwitchCalls::write_request();
  if (args.contains("table")) {
    const bfrt::Table& table = calls.table_of(args);
    if (!counts(table)) throw bad_argument("table " + table.name + " has no counter to clear");
    clear_counts(calls, table, since, request);
  } else {
    for (const bfrt::Table& table : calls.schema().of_program().tables()) {
      if (counts(table)) clear_counts(calls, table, since, request);
    }
  }
  calls.write(request);
  return Json::object();
}

Json meter_write(SwitchCalls& calls, const Json& args) {
  const bfrt::Table& table = of_type(calls.table_of(args), "Meter");
  const std::uint64_t index = index_of(table, args);
  const auto data = args.find("data");
  auto request = SwitchCalls::write_request();
  if (data != args.end() && data->is_null()) {
    set_key(table, kMeterIndex, index, new_update(request, table, bfrt_proto::Update::DELETE));
  } else {
    auto& entry = new_update(request, table, bfrt_proto::Update::MODIFY);
    set_key(table, kMeterIndex, index, entry);
    for (const bfrt::Field& field : table.data) {
      if (data == args.end() || !data->is_object() || !data->contains(field.name))
        throw bad_argument("meter " + table.name + ": data lacks \"" + field.name + "\"");
      *entry.mutable_data()->add_fields() =
          encode_data(field, data->at(field.name), "meter " + table.name + ", " + field.name);
    }
  }
  calls.write(request);
  return Json::object();
}

Json meter_read(SwitchCalls& calls, const Json& args) {
  const bfrt::Table& table = of_type(calls.table_of(args), "Meter");
  const std::uint64_t index = index_of(table, args);
  const auto put_key = [&](std::size_t, bfrt_proto::TableEntry& entry) {
    set_key(table, kMeterIndex, index, entry);
  };
  Json data;
  for (const auto& entry :
       calls.read_some(table, 1, put_key, From::kDriver, SwitchConnection::Missing::kIsLeftOut)) {
    data = entry_of(table, entry).at("data");
  }
  return {{"table", table.name}, {"index", index}, {"data", std::move(data)}};
}

}  // namespace turntable::bfrt_driver
