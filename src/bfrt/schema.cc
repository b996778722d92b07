#include "bfrt/schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace turntable::bfrt {
namespace {

using Json = nlohmann::json;

Field::Match match_of(const std::string& type) {
  static const std::map<std::string, Field::Match> matches = {
      {"Exact", Field::Match::kExact}, {"Ternary", Field::Match::kTernary},
      {"LPM", Field::Match::kLpm},     {"Range", Field::Match::kRange},
      {"ATCAM", Field::Match::kExact}, {"Optional", Field::Match::kOptional}};
  const auto found = matches.find(type);
  if (found == matches.end()) throw std::runtime_error("bfrt.json: match_type \"" + type + "\"");
  return found->second;
}

void read_type(const Json& type, Field& field) {
  static const std::map<std::string, int> widths = {{"uint8", 8},   {"uint16", 16}, {"uint32", 32},
                                                    {"uint64", 64}, {"int8", 8},    {"int16", 16},
                                                    {"int32", 32},  {"int64", 64}};
  const std::string name = type.at("type");
  if (type.contains("choices")) field.choices = type.at("choices");
  if (name == "bytes") {
    field.width = type.at("width");
  } else if (name == "bool") {
    field.kind = Field::Kind::kBool;
    field.width = 1;
  } else if (name == "string") {
    field.kind = Field::Kind::kText;
  } else if (name == "float") {
    field.kind = Field::Kind::kFloat;
  } else if (const auto width = widths.find(name); width != widths.end()) {
    field.width = width->second;
  } else {
    throw std::runtime_error("bfrt.json: type \"" + name + "\"");
  }
}

void read_data(const Json& list, std::vector<Field>& fields);

Field read_field(const Json& document) {
  Field field;
  field.id = document.at("id");
  field.name = document.at("name");
  field.mandatory = document.value("mandatory", false);
  field.read_only = document.value("read_only", false);
  field.repeated = document.value("repeated", false);
  for (const Json& annotation : document.value("annotations", Json::array()))
    if (annotation.value("value", "") == "register_data") field.of_each_pipe = true;
  if (document.contains("container")) {
    field.kind = Field::Kind::kContainer;
    read_data(document.at("container"), field.container);
  } else {
    read_type(document.at("type"), field);
  }
  return field;
}

// Data are fields, or hold one as "singleton" beside what it may do, or several as "oneof", of
// which an entry has one.
void read_data(const Json& list, std::vector<Field>& fields) {
  for (const Json& element : list) {
    if (element.contains("oneof")) {
      for (const Json& each : element.at("oneof")) fields.push_back(read_field(each));
      continue;
    }
    if (!element.contains("singleton")) {
      fields.push_back(read_field(element));
      continue;
    }
    Field field = read_field(element.at("singleton"));
    field.mandatory = element.value("mandatory", false);
    field.read_only = element.value("read_only", false);
    fields.push_back(std::move(field));
  }
}

Table read_table(const Json& document) {
  Table table;
  table.id = document.at("id");
  table.name = document.at("name");
  table.type = document.at("table_type");
  table.size = document.value("size", 0U);
  table.has_const_default_action = document.value("has_const_default_action", false);
  table.depends_on = document.value("depends_on", std::vector<std::uint32_t>());
  table.operations = document.value("supported_operations", std::vector<std::string>());
  table.attributes = document.value("attributes", std::vector<std::string>());
  for (const Json& key : document.at("key")) {
    Field field = read_field(key);
    field.match = match_of(key.at("match_type"));
    table.keys.push_back(std::move(field));
  }
  if (document.contains("action_specs")) {
    for (const Json& spec : document.at("action_specs")) {
      Action action{spec.at("id"), spec.at("name"), {}};
      read_data(spec.at("data"), action.data);
      table.actions.push_back(std::move(action));
    }
  }
  read_data(document.at("data"), table.data);
  return table;
}

template <class Items>
auto with_id(const Items& items, std::uint32_t id) -> decltype(items.data()) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.id == id; });
  return found == items.end() ? nullptr : &*found;
}

template <class Items>
auto with_name(const Items& items, std::string_view name) -> decltype(items.data()) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

// The one item of that name, or the only one whose name ends in it after a dot.
template <class Items>
auto with_suffix(const Items& items, std::string_view name) -> decltype(items.data()) {
  if (const auto* exact = with_name(items, name)) return exact;
  decltype(items.data()) found = nullptr;
  for (const auto& item : items) {
    const std::string_view whole = item.name;
    if (!whole.ends_with(name) || whole[whole.size() - name.size() - 1] != '.') continue;
    if (found != nullptr) return nullptr;
    found = &item;
  }
  return found;
}

}  // namespace

const Field* Table::key(std::uint32_t key_id) const {
  return with_id(keys, key_id);
}

const Field* Table::key(std::string_view key_name) const {
  return with_name(keys, key_name);
}

const Action* Table::action(std::uint32_t action_id) const {
  return with_id(actions, action_id);
}

const Action* Table::action(std::string_view action_name) const {
  return with_suffix(actions, action_name);
}

const Field* Table::datum(const Action* action, std::uint32_t field_id) const {
  const Field* found = action == nullptr ? nullptr : with_id(action->data, field_id);
  return found != nullptr ? found : with_id(data, field_id);
}

const Field* Table::datum(const Action* action, std::string_view field_name) const {
  const Field* found = action == nullptr ? nullptr : with_name(action->data, field_name);
  return found != nullptr ? found : with_suffix(data, field_name);
}

Schema::Schema(const Json& document) {
  try {
    for (const Json& table : document.at("tables")) tables_.push_back(read_table(table));
    for (const Json& filter : document.value("learn_filters", Json::array())) {
      LearnFilter read{filter.at("id"), filter.at("name"), {}};
      read_data(filter.at("fields"), read.fields);
      learn_filters_.push_back(std::move(read));
    }
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string("bfrt.json: ") + error.what());
  }
  for (std::size_t place = 0; place < tables_.size(); ++place) by_id_[tables_[place].id] = place;
}

const Table* Schema::table(std::uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tables_[found->second];
}

const Table* Schema::table(std::string_view name) const {
  return with_suffix(tables_, name);
}

const LearnFilter* Schema::learn_filter(std::string_view name) const {
  return with_suffix(learn_filters_, name);
}

}  // namespace turntable::bfrt
