#include "dataplane/fixed_tables.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/names.h"
#include "dataplane/operation.h"
#include "dataplane/program.h"
#include "dataplane/update_errors.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

struct Field {
  enum class Kind : std::uint8_t { kNumber, kBool, kNumbers, kBools, kDirection };
  const char* name;
  Kind kind;
  int width;                 // bits of a number
  nlohmann::json otherwise;  // value where left out; null: it must be given
};

struct FixedTable {
  const char* name;
  const char* key;
  int key_width;
  std::vector<Field> fields;
};

using Kind = Field::Kind;

const std::vector<FixedTable>& tables() {
  static const std::vector<FixedTable> all = {
      {"$pre.node",
       "$MULTICAST_NODE_ID",
       32,
       {{"$MULTICAST_RID", Kind::kNumber, 16, nullptr},
        {"$DEV_PORT", Kind::kNumbers, 9, nlohmann::json::array()},
        {"$MULTICAST_LAG_ID", Kind::kNumbers, 8, nlohmann::json::array()}}},
      {"$pre.mgid",
       "$MGID",
       16,
       {{"$MULTICAST_NODE_ID", Kind::kNumbers, 32, nlohmann::json::array()},
        {"$MULTICAST_NODE_L1_XID_VALID", Kind::kBools, 1, nlohmann::json::array()},
        {"$MULTICAST_NODE_L1_XID", Kind::kNumbers, 16, nlohmann::json::array()}}},
      {"$pre.prune", "$MULTICAST_L2_XID", 9, {{"$DEV_PORT", Kind::kNumbers, 9, nullptr}}},
      {"$pre.port", "$DEV_PORT", 9, {{"$COPY_TO_CPU_PORT_ENABLE", Kind::kBool, 1, nullptr}}},
      {kDeviceConfig, "$DEVICE", 0, {{kGlobalRid, Kind::kNumber, 16, 0}}},
      {"$mirror.cfg",
       "$sid",
       10,
       {{"$session_enable", Kind::kBool, 1, nullptr},
        {"$direction", Kind::kDirection, 0, "BOTH"},
        {"$ucast_egress_port", Kind::kNumber, 9, 0},
        {"$ucast_egress_port_valid", Kind::kBool, 1, false},
        {"$egress_port_queue", Kind::kNumber, 5, 0},
        {"$mcast_grp_a", Kind::kNumber, 16, 0},
        {"$mcast_grp_a_valid", Kind::kBool, 1, false},
        {"$mcast_grp_b", Kind::kNumber, 16, 0},
        {"$mcast_grp_b_valid", Kind::kBool, 1, false},
        {"$mcast_rid", Kind::kNumber, 16, 0},
        {"$max_pkt_len", Kind::kNumber, 16, kMaxFrame}}},
  };
  return all;
}

const FixedTable& find(const nlohmann::json& args) {
  if (!args.is_object() || !args.contains("table") || !args.at("table").is_string())
    throw bad_argument("\"table\" is missing; expected a table's name, for instance \"$pre.node\"");
  std::vector<std::string> names;
  for (const FixedTable& table : tables()) names.emplace_back(table.name);
  const std::string& wanted = args.at("table").get_ref<const std::string&>();
  return tables()[resolve_name(names, wanted, "table", "of the switch")];
}

std::uint64_t number(const nlohmann::json& value, int width, const std::string& what) {
  return static_cast<std::uint64_t>(parse_value(value, width, what));
}

bool truth(const nlohmann::json& value, const std::string& what) {
  if (!value.is_boolean())
    throw bad_argument(what + " is " + value.dump() + "; expected true or false");
  return value;
}

nlohmann::json list(const nlohmann::json& value, const std::string& what,
                    const std::function<nlohmann::json(const nlohmann::json&)>& parse) {
  if (!value.is_array()) throw bad_argument(what + " is " + value.dump() + "; expected a list");
  nlohmann::json parsed = nlohmann::json::array();
  for (const auto& item : value) parsed.push_back(parse(item));
  return parsed;
}

nlohmann::json parse(const Field& field, const nlohmann::json& value, const std::string& what) {
  switch (field.kind) {
    case Kind::kNumber:
      return number(value, field.width, what);
    case Kind::kBool:
      return truth(value, what);
    case Kind::kNumbers:
      return list(value, what,
                  [&](const nlohmann::json& item) { return number(item, field.width, what); });
    case Kind::kBools:
      return list(value, what, [&](const nlohmann::json& item) { return truth(item, what); });
    case Kind::kDirection:
      if (value != "INGRESS" && value != "EGRESS" && value != "BOTH")
        throw bad_argument(what + " is " + value.dump() + "; expected INGRESS, EGRESS or BOTH");
      return value;
  }
  return nullptr;
}

std::uint64_t key_of(const FixedTable& table, const nlohmann::json& update) {
  if (!update.contains("key") || !update.at("key").contains(table.key)) {
    throw bad_argument("table " + std::string(table.name) + ": key \"" + table.key +
                       "\" is missing");
  }
  return number(update.at("key").at(table.key), table.key_width,
                "table " + std::string(table.name) + ", " + table.key);
}

// `base` has the values of the fields that the update leaves out; null: a new entry.
nlohmann::json data_of(const FixedTable& table, const nlohmann::json& update,
                       const nlohmann::json& base) {
  const nlohmann::json given = update.value("data", nlohmann::json::object());
  if (!given.is_object()) {
    throw bad_argument("table " + std::string(table.name) + ": \"data\" is " + given.dump() +
                       "; expected an object from names to values");
  }
  nlohmann::json data = nlohmann::json::object();
  std::vector<std::string> names;
  for (const Field& field : table.fields) {
    const std::string what = "table " + std::string(table.name) + ", " + field.name;
    names.emplace_back(field.name);
    if (given.contains(field.name)) {
      data[field.name] = parse(field, given.at(field.name), what);
    } else if (!base.is_null()) {
      data[field.name] = base.at(field.name);
    } else if (field.otherwise.is_null()) {
      throw bad_argument(what + " is missing");
    } else {
      data[field.name] = field.otherwise;
    }
  }
  for (const auto& [name, value] : given.items())
    resolve_name(names, name, "data field", "of table " + std::string(table.name));
  return data;
}

void apply(const FixedTable& table, const nlohmann::json& update, FixedTables::Entries& entries) {
  const std::string operation = operation_of(update, kEntryOperations);
  if (operation == "clear") return entries.clear();
  const std::uint64_t key = key_of(table, update);
  const auto found = entries.find(key);
  const std::string entry = "table " + std::string(table.name) + ": entry " + std::to_string(key);
  if (operation == "insert" && found != entries.end())
    throw CommandError("exists", entry + " exists already; use \"modify\" or \"upsert\"");
  if ((operation == "modify" || operation == "delete") && found == entries.end())
    throw CommandError("not_found", entry + " does not exist; use \"insert\" or \"upsert\"");
  if (operation == "delete") {
    entries.erase(found);
  } else if (operation == "insert" || operation == "modify" || operation == "upsert") {
    entries[key] =
        data_of(table, update, found == entries.end() ? nlohmann::json() : found->second);
  } else {
    throw unknown_operation(operation, kEntryOperations);
  }
}

// Takes the nodes out of all groups that are not in $pre.node any more.
void withdraw_nodes(FixedTables::State& state) {
  const FixedTables::Entries& nodes = state.at("$pre.node");
  for (auto& [group, data] : state.at("$pre.mgid")) {
    const nlohmann::json ids = data.at("$MULTICAST_NODE_ID");
    for (std::size_t i = ids.size(); i-- > 0;) {
      if (nodes.contains(ids[i].get<std::uint64_t>())) continue;
      for (auto& [name, list] : data.items()) list.erase(i);
    }
  }
}

}  // namespace

FixedTables::FixedTables(Listener listener) : listener_(std::move(listener)) {
  for (const FixedTable& table : tables()) state_[table.name];
}

void FixedTables::clear() {
  State empty;
  for (const FixedTable& table : tables()) empty[table.name];
  put_back(empty);
}

bool FixedTables::concerns(const nlohmann::json& args) {
  if (!args.is_object()) return false;
  const auto updates = args.find("updates");
  const bool batch = updates != args.end() && updates->is_array() && !updates->empty();
  const nlohmann::json& named = batch ? updates->front() : args;
  const auto table = named.is_object() ? named.find("table") : named.end();
  return table != named.end() && table->is_string() && owns(table->get_ref<const std::string&>());
}

nlohmann::json FixedTables::execute(std::string_view command, const nlohmann::json& args) {
  if (command == "table_write") return write(args);
  if (command == "table_read") return read(args);
  throw CommandError("unknown_command", "the switch's own tables have no command '" +
                                            std::string(command) +
                                            "'; expected table_write or table_read");
}

nlohmann::json FixedTables::write(const nlohmann::json& args) {
  if (!args.contains("updates") || !args.at("updates").is_array())
    throw bad_argument("table_write: \"updates\" is missing; expected an array of updates");
  if (continues_on_error(args)) return write_each(args.at("updates"));
  State next = state_;
  const auto& updates = args.at("updates");
  for (std::size_t i = 0; i < updates.size(); ++i) {
    try {
      const FixedTable& table = find(updates[i]);
      apply(table, updates[i], next[table.name]);
      const auto from_groups = updates[i].find("from_groups");
      if (from_groups != updates[i].end() && truth(*from_groups, "\"from_groups\""))
        withdraw_nodes(next);
    } catch (const CommandError& error) {
      throw refusal_of_batch(i, error);
    }
  }
  listener_(next);
  state_ = std::move(next);
  return {{"applied", updates.size()}};
}

void FixedTables::put_back(const State& before) {
  listener_(before);
  state_ = before;
}

nlohmann::json FixedTables::write_each(const nlohmann::json& updates) {
  UpdateErrors errors;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    errors.attempt(i, [&](RowOutcomes*) { write({{"updates", {updates[i]}}}); });
  }
  return errors.answer();
}

nlohmann::json FixedTables::read(const nlohmann::json& args) const {
  const FixedTable& table = find(args);
  nlohmann::json entries = nlohmann::json::array();
  for (const auto& [key, data] : state_.at(table.name))
    entries.push_back({{"key", {{table.key, key}}}, {"data", data}});
  return {{"table", table.name}, {"entries", entries}};
}

}  // namespace turntable::dataplane
