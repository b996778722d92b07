#include "bfrt_driver/entry_codec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "bfrt/byte_string.h"
#include "bfrt_driver/value_codec.h"
#include "common/command_error.h"
#include "common/packed_numbers.h"
#include "dataplane/names.h"
#include "dataplane/operation.h"
#include "dataplane/values.h"

namespace turntable::bfrt_driver {
namespace {

using Json = nlohmann::json;

constexpr const char* kPriority = "$MATCH_PRIORITY";
constexpr int kPriorityBits = 24;
constexpr const char* kOperations =
    R"("insert", "modify", "upsert", "delete", each also with "_columns", "clear" or "set_default")";

std::string where(const bfrt::Table& table) {
  return "table " + table.name;
}

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

const Json& object_in(const Json& update, const char* member, const bfrt::Table& table) {
  static const Json empty = Json::object();
  const auto found = update.find(member);
  if (found == update.end()) return empty;
  if (found->is_object()) return *found;
  throw bad_argument(where(table) + ": \"" + member + "\" is " + found->dump().substr(0, 80) +
                     "; expected an object from names to values");
}

using Fields = std::vector<const bfrt::Field*>;

Fields fields_of(const std::vector<bfrt::Field>& some, const std::vector<bfrt::Field>& more = {}) {
  Fields fields;
  fields.reserve(some.size() + more.size());
  for (const bfrt::Field& field : some) fields.push_back(&field);
  for (const bfrt::Field& field : more) fields.push_back(&field);
  return fields;
}

// Whole names are found without a list of all.
std::size_t place_of(const Fields& fields, const std::string& name, const char* what,
                     const std::string& of) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i]->name == name) return i;
  }
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const bfrt::Field* field : fields) names.push_back(field->name);
  return dataplane::resolve_name(names, name, what, of);
}

// The values of `given`, in the order of `fields`; nullptr where one is left out.
std::vector<const Json*> in_order(const Fields& fields, const Json& given, const char* what,
                                  const std::string& of) {
  std::vector<const Json*> values(fields.size());
  for (const auto& [name, value] : given.items()) {
    const std::size_t i = place_of(fields, name, what, of);
    if (values[i] != nullptr)
      throw bad_argument(std::string(what) + " " + fields[i]->name + " " + of + " is given twice");
    values[i] = &value;
  }
  return values;
}

// A number that needs no further look, as nearly all are.
std::optional<std::string> plain_number(const bfrt::Field& field, const Json& value) {
  const bool is_plain = field.kind == bfrt::Field::Kind::kNumber && !field.repeated &&
                        field.width < 64 && value.is_number_unsigned();
  if (!is_plain || value.get<std::uint64_t>() >> field.width != 0) return std::nullopt;
  return bfrt::to_byte_string(value.get<std::uint64_t>(), field.width);
}

bool put_plain_key(const bfrt::Field& key, const Json& value, bfrt_proto::KeyField& field) {
  if (key.match != bfrt::Field::Match::kExact) return false;
  auto bytes = plain_number(key, value);
  if (!bytes) return false;
  field.set_field_id(key.id);
  field.mutable_exact()->set_value(std::move(*bytes));
  return true;
}

bool put_plain_datum(const bfrt::Field& described, const Json& value,
                     bfrt_proto::DataField& field) {
  auto bytes = plain_number(described, value);
  if (!bytes) return false;
  field.set_field_id(described.id);
  field.set_stream(std::move(*bytes));
  return true;
}

void put_key(const bfrt::Table& table, const Json& update, bfrt_proto::TableEntry& entry) {
  if (table.keys.empty()) {
    throw bad_argument(where(table) +
                       " has no keys; only its default action can be set (\"set_default\")");
  }
  const Json& given = object_in(update, "key", table);
  const auto values = in_order(fields_of(table.keys), given, "key", "of " + where(table));
  bool has_priority = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bfrt::Field& key = table.keys[i];
    auto& field = *entry.mutable_key()->add_fields();
    if (values[i] != nullptr && put_plain_key(key, *values[i], field)) continue;
    const std::string what = where(table) + ", key " + key.name;
    if (values[i] != nullptr) {
      field = encode_key(key, *values[i], what);
    } else if (key.name == kPriority) {
      has_priority = true;
      const Json priority = update.value("priority", Json(0U));
      dataplane::parse_value(priority, kPriorityBits, where(table) + ", priority");
      field = encode_key(key, priority, what);
    } else if (key.match == bfrt::Field::Match::kExact) {
      throw bad_argument(what + " is missing; it is exact, so every entry needs a value for it");
    } else {
      field = any_key(key);
    }
  }
  if (update.contains("priority") && !has_priority) {
    throw bad_argument(where(table) +
                       ": \"priority\" is given, but only tables with ternary or "
                       "range keys have one");
  }
}

const bfrt::Action& action_of(const bfrt::Table& table, const Json& update) {
  const auto named = update.find("action");
  if (named == update.end() || !named->is_string())
    throw bad_argument(where(table) + ": \"action\" is missing; expected an action's name");
  for (const bfrt::Action& action : table.actions) {
    if (action.name == named->get_ref<const std::string&>()) return action;
  }
  return table.actions[dataplane::resolve_name(names_of(table.actions),
                                               named->get_ref<const std::string&>(), "action",
                                               "of " + where(table))];
}

// Where the action of a fixed table is not named, it is the only one, or $normal of a mirror
// session.
const bfrt::Action* fixed_action(const bfrt::Table& table, const Json& update) {
  if (update.contains("action")) return &action_of(table, update);
  for (const bfrt::Action& action : table.actions) {
    if (action.name == "$normal" || table.actions.size() == 1) return &action;
  }
  return nullptr;
}

// Lists of different lengths have no meaning, so BF Runtime wants an empty one to be there.
void complete_node(const bfrt::Table& table, Json& data) {
  if (table.name == "$pre.node" && data.contains("$DEV_PORT") &&
      !data.contains("$MULTICAST_LAG_ID")) {
    data["$MULTICAST_LAG_ID"] = Json::array();
  }
}

void put_fixed_data(const bfrt::Table& table, const Json& update, bfrt_proto::TableEntry& entry) {
  Fields fields = fields_of(table.data);
  if (const bfrt::Action* action = fixed_action(table, update)) {
    entry.mutable_data()->set_action_id(action->id);
    fields = fields_of(table.data, action->data);
  }
  Json data = object_in(update, "data", table);
  complete_node(table, data);
  const auto values = in_order(fields, data, "data field", "of " + where(table));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == nullptr) continue;
    *entry.mutable_data()->add_fields() =
        encode_data(*fields[i], *values[i], where(table) + ", " + fields[i]->name);
  }
}

void put_data(const bfrt::Table& table, const Json& update, bfrt_proto::TableEntry& entry) {
  if (is_fixed(table)) return put_fixed_data(table, update, entry);
  // Without an action, an entry keeps its own: counters and meters are modified alone.
  const bool keeps_action = update.at("op") == "modify" && !update.contains("action");
  const bfrt::Action* action = keeps_action ? nullptr : &action_of(table, update);
  const std::vector<bfrt::Field> none;
  const std::vector<bfrt::Field>& parameters = action == nullptr ? none : action->data;
  const std::string of =
      (action == nullptr ? "of " : "of action " + action->name + " in ") + where(table);
  const Fields fields = fields_of(parameters, table.data);
  if (action != nullptr) entry.mutable_data()->set_action_id(action->id);
  const auto values = in_order(fields, object_in(update, "data", table), "data", of);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == nullptr) {
      if (i < parameters.size())
        throw bad_argument("data " + fields[i]->name + " " + of + " is missing");
      continue;
    }
    auto& field = *entry.mutable_data()->add_fields();
    if (put_plain_datum(*fields[i], *values[i], field)) continue;
    field = encode_data(*fields[i], *values[i], "data " + fields[i]->name + " " + of);
  }
}

// A column of numbers, as an array or packed, each of which fits `width` bits.
std::vector<std::string> column(const Json& value, int width, const std::string& what) {
  constexpr int kMaxWidth = 64;
  if (width > kMaxWidth) {
    throw bad_argument(what + " has " + std::to_string(width) +
                       " bits; columns are for up to 64: use \"upsert\"");
  }
  std::vector<std::string> cells;
  const auto append = [&](const Json& number) {
    const std::string row = what + ", row " + std::to_string(cells.size());
    cells.push_back(bfrt::to_byte_string(dataplane::parse_value(number, width, row), width));
  };
  if (value.is_array()) {
    for (const Json& number : value) append(number);
  } else {
    for (const std::uint64_t number : unpack_numbers(value, what)) append(number);
  }
  return cells;
}

std::vector<std::vector<std::string>> columns(const std::vector<bfrt::Field>& fields,
                                              const Json& given, const char* member,
                                              const bfrt::Table& table) {
  const auto values = in_order(fields_of(fields), given, member, "of " + where(table));
  std::vector<std::vector<std::string>> all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string what = where(table) + ", " + member + " " + fields[i].name;
    if (values[i] == nullptr) throw bad_argument(what + ": the column is missing");
    all.push_back(column(*values[i], fields[i].width, what));
    if (all.back().size() == all.front().size()) continue;
    throw bad_argument(what + " has " + std::to_string(all.back().size()) +
                       " rows; expected as many as the first column, " +
                       std::to_string(all.front().size()));
  }
  return all;
}

// The type of what one entry or, with "_columns", each row is to undergo.
std::optional<bfrt_proto::Update::Type> type_of(std::string_view operation) {
  using Update = bfrt_proto::Update;
  if (operation == "insert") return Update::INSERT;
  if (operation == "modify") return Update::MODIFY;
  if (operation == "upsert") return Update::INSERT_OR_MODIFY;
  if (operation == "delete") return Update::DELETE;
  return std::nullopt;
}

std::optional<bfrt_proto::Update::Type> type_of_columns(std::string_view operation) {
  constexpr std::string_view kEnd = "_columns";
  if (!operation.ends_with(kEnd)) return std::nullopt;
  return type_of(operation.substr(0, operation.size() - kEnd.size()));
}

void add_columns(const bfrt::Table& table, const Json& update, bfrt_proto::Update::Type type,
                 bfrt_proto::WriteRequest& request) {
  const bool exact = std::all_of(table.keys.begin(), table.keys.end(), [](const auto& key) {
    return key.match == bfrt::Field::Match::kExact;
  });
  if (!exact || table.keys.empty() || is_fixed(table)) {
    throw bad_argument(where(table) +
                       ": columns are for tables of the program whose keys are all " +
                       "exact; write entry by entry (\"upsert\")");
  }
  const bool erases = type == bfrt_proto::Update::DELETE;
  const bfrt::Action* action = erases ? nullptr : &action_of(table, update);
  const auto keys = columns(table.keys, object_in(update, "key", table), "key", table);
  std::vector<std::vector<std::string>> data;
  if (!erases) data = columns(action->data, object_in(update, "data", table), "data", table);
  if (!data.empty() && data.front().size() != keys.front().size()) {
    throw bad_argument(where(table) + ": the data has " + std::to_string(data.front().size()) +
                       " rows, the key " + std::to_string(keys.front().size()));
  }
  for (std::size_t row = 0; row < keys.front().size(); ++row) {
    auto& entry = new_update(request, table, type);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto& field = *entry.mutable_key()->add_fields();
      field.set_field_id(table.keys[i].id);
      field.mutable_exact()->set_value(keys[i][row]);
    }
    if (erases) continue;
    entry.mutable_data()->set_action_id(action->id);
    for (std::size_t i = 0; i < data.size(); ++i) {
      auto& field = *entry.mutable_data()->add_fields();
      field.set_field_id(action->data[i].id);
      field.set_stream(data[i][row]);
    }
  }
}

const bfrt_proto::KeyField* key_field(const bfrt_proto::TableEntry& entry, std::uint32_t id) {
  for (const auto& field : entry.key().fields()) {
    if (field.field_id() == id) return &field;
  }
  return nullptr;
}

}  // namespace

bfrt_proto::TableEntry& new_update(bfrt_proto::WriteRequest& request, const bfrt::Table& table,
                                   bfrt_proto::Update::Type type) {
  auto& update = *request.add_updates();
  update.set_type(type);
  auto& entry = *update.mutable_entity()->mutable_table_entry();
  entry.set_table_id(table.id);
  return entry;
}

void add_update(const SwitchSchema& schema, const Json& update, bfrt_proto::WriteRequest& request) {
  using Update = bfrt_proto::Update;
  if (!update.is_object()) throw bad_argument("is " + update.dump() + "; expected an object");
  const auto named = update.find("table");
  if (named == update.end() || !named->is_string())
    throw bad_argument("\"table\" is missing; expected a table's name");
  const bfrt::Table& table = schema.table(*named);
  const std::string name = dataplane::operation_of(update, kOperations);
  if (!is_fixed(table) && !is_match_action(table)) {
    throw bad_argument(where(table) + " is of type " + table.type +
                       ", not a match-action table; use the commands counter_…, register_… or "
                       "meter_…");
  }
  if (name == "clear") {
    new_update(request, table, Update::DELETE);
  } else if (name == "set_default") {
    auto& entry = new_update(request, table, Update::MODIFY);
    entry.set_is_default_entry(true);
    put_data(table, update, entry);
  } else if (const auto of_rows = type_of_columns(name)) {
    add_columns(table, update, *of_rows, request);
  } else if (const auto type = type_of(name)) {
    auto& entry = new_update(request, table, *type);
    put_key(table, update, entry);
    if (*type != Update::DELETE) put_data(table, update, entry);
  } else {
    throw dataplane::unknown_operation(name, kOperations);
  }
}

bool has_columns(const Json& update) {
  return type_of_columns(update.at("op").get<std::string>()).has_value();
}

Json key_of(const bfrt::Table& table, const bfrt_proto::TableEntry& entry) {
  Json key = Json::object();
  for (const bfrt::Field& schema : table.keys) {
    if (schema.name == kPriority) continue;
    const auto* field = key_field(entry, schema.id);
    key[schema.name] = decode_key(schema, field != nullptr ? *field : any_key(schema));
  }
  return key;
}

Json entry_of(const bfrt::Table& table, const bfrt_proto::TableEntry& entry) {
  const bfrt::Action* action = table.action(entry.data().action_id());
  Json data = Json::object();
  for (const auto& value : entry.data().fields()) {
    if (const bfrt::Field* field = table.datum(action, value.field_id()))
      data[field->name] = decode_data(*field, value, is_fixed(table));
  }
  Json result = {{"data", std::move(data)}};
  if (!is_fixed(table)) result["action"] = action == nullptr ? Json() : Json(action->name);
  if (entry.is_default_entry()) return result;
  result["key"] = key_of(table, entry);
  for (const bfrt::Field& key : table.keys) {
    if (key.name == kPriority && !is_fixed(table))
      result["priority"] = exact_key(table, kPriority, entry);
  }
  return result;
}

Json counts_of(const bfrt::Table& table, const bfrt_proto::TableEntry& entry) {
  Json counts = Json::object();
  for (const auto& value : entry.data().fields()) {
    const bfrt::Field* field = table.datum(nullptr, value.field_id());
    if (field != nullptr && field->name.starts_with("$COUNTER_SPEC_"))
      counts[field->name] = decode_data(*field, value, is_fixed(table));
  }
  return counts;
}

void set_key(const bfrt::Table& table, const std::string& name, std::uint64_t value,
             bfrt_proto::TableEntry& entry) {
  for (const bfrt::Field& key : table.keys) {
    if (key.name != name) continue;
    *entry.mutable_key()->add_fields() = encode_key(key, value, where(table) + ", " + name);
    return;
  }
  throw std::runtime_error("the switch's " + where(table) + " has no key " + name);
}

std::uint64_t exact_key(const bfrt::Table& table, const std::string& name,
                        const bfrt_proto::TableEntry& entry) {
  for (const bfrt::Field& key : table.keys) {
    const auto* field = key.name == name ? key_field(entry, key.id) : nullptr;
    if (field != nullptr) return static_cast<std::uint64_t>(to_number(key, field->exact().value()));
  }
  throw std::runtime_error("the switch left " + name + " out of an entry of " + where(table));
}

}  // namespace turntable::bfrt_driver
