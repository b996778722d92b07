#include "dataplane/schema.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "dataplane/names.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

constexpr const char* kPriorityKey = "$MATCH_PRIORITY";
constexpr const char* kPackets = "$COUNTER_SPEC_PKTS";
constexpr const char* kBytes = "$COUNTER_SPEC_BYTES";
constexpr const char* kRegisterData = "register_data";  // an annotation's value

MatchKind match_kind(const std::string& type) {
  static const std::map<std::string, MatchKind> kinds = {{"Exact", MatchKind::kExact},
                                                         {"ATCAM", MatchKind::kExact},
                                                         {"LPM", MatchKind::kLpm},
                                                         {"Ternary", MatchKind::kTernary},
                                                         {"Range", MatchKind::kRange}};
  const auto kind = kinds.find(type);
  if (kind == kinds.end()) {
    throw std::runtime_error("schema: match_type '" + type + "' is not known to the data plane");
  }
  return kind->second;
}

int width_of(const nlohmann::json& type) {
  if (type.at("type") == "uint32") return 32;
  if (type.at("type") == "uint64") return 64;
  return type.at("type") == "bool" ? 1 : type.at("width").get<int>();
}

// Each in words of its own, one after the other.
std::vector<DataSchema> data_in_words(const std::vector<nlohmann::json>& fields) {
  std::vector<DataSchema> data;
  int word = 0;
  for (const auto& field : fields) {
    const int width = width_of(field.at("type"));
    data.push_back({field.at("name"), width, word});
    word += width > 64 ? 2 : 1;
  }
  return data;
}

ActionSchema read_action(const nlohmann::json& spec) {
  const std::string scope = spec.at("action_scope");
  return {spec.at("name"), scope != "DefaultOnly", scope != "TableOnly",
          data_in_words(spec.at("data"))};
}

ActionSchema unnamed_action(const nlohmann::json& data) {
  std::vector<nlohmann::json> fields;
  for (const auto& element : data) fields.push_back(element.at("singleton"));
  return {"", true, false, data_in_words(fields)};
}

// Fields of a DirectRegister, among the data of match-action tables.
std::vector<DataSchema> read_cell(const nlohmann::json& data) {
  std::vector<nlohmann::json> fields;
  for (const auto& element : data) {
    if (!element.contains("singleton")) continue;
    const auto& field = element.at("singleton");
    for (const auto& annotation : field.value("annotations", nlohmann::json::array()))
      if (annotation.value("value", "") == kRegisterData) fields.push_back(field);
  }
  return data_in_words(fields);
}

bool has_data(const nlohmann::json& table, const std::string& name) {
  return std::any_of(table.at("data").begin(), table.at("data").end(), [&](const auto& element) {
    return element.contains("singleton") && element.at("singleton").at("name") == name;
  });
}

TableSchema read_table(const nlohmann::json& document) {
  TableSchema table;
  table.name = document.at("name");
  table.type = document.at("table_type");
  table.size = document.at("size");
  table.has_const_default_action = document.at("has_const_default_action");
  const auto& attributes = document.at("attributes");
  table.is_const =
      std::find(attributes.begin(), attributes.end(), "ConstTable") != attributes.end();
  if (table.is_hash()) return table;  // it has no entries
  for (const auto& key : document.at("key")) {
    const std::string name = key.at("name");
    if (name == kPriorityKey) {
      table.has_priority = true;
      continue;
    }
    if (name.starts_with('$') && !table.is_profile()) continue;
    const int width = width_of(key.at("type"));
    table.keys.push_back({name, {match_kind(key.at("match_type")), table.key_bits, width}});
    table.key_bits += width;
  }
  if (table.type == "ParserValueSet" || table.type == "PortMetadata") {
    table.actions.push_back(unnamed_action(document.at("data")));
  } else if (document.contains("action_specs")) {
    for (const auto& spec : document.at("action_specs")) table.actions.push_back(read_action(spec));
  }
  table.counts_packets = has_data(document, kPackets);
  table.counts_bytes = has_data(document, kBytes);
  if (table.type == "Register" || table.type == "RegisterParam") {
    for (const auto& element : document.at("data"))
      table.register_widths.push_back(width_of(element.at("singleton").at("type")));
  } else {
    table.cell = read_cell(document.at("data"));
  }
  return table;
}

}  // namespace

bool TableSchema::all_exact() const {
  return std::all_of(keys.begin(), keys.end(),
                     [](const KeySchema& key) { return key.field.kind == MatchKind::kExact; });
}

const DataSchema* TableSchema::cell_field(const std::string& field) const {
  if (field.find('.') == std::string::npos) return nullptr;
  const auto found = std::find_if(cell.begin(), cell.end(), [&](const DataSchema& each) {
    return is_dotted_suffix(each.name, field);
  });
  return found == cell.end() ? nullptr : &*found;
}

bool TableSchema::has_actions() const {
  return !actions.empty() && !actions.front().name.empty();
}

std::vector<TableSchema> read_schema(const nlohmann::json& document) {
  std::vector<TableSchema> tables;
  for (const auto& table : document.at("tables")) tables.push_back(read_table(table));
  return tables;
}

nlohmann::json LearnFilter::fields_of(std::span<const std::uint8_t> bytes) const {
  nlohmann::json values = nlohmann::json::object();
  for (const Field& field : fields) {
    uint128 value = 0;
    const auto size = static_cast<std::size_t>((field.width + 7) / 8);
    for (const std::uint8_t byte : bytes.first(size)) value = value << 8 | byte;
    values[field.name] = format_value(value);
    bytes = bytes.subspan(size);
  }
  return values;
}

std::vector<LearnFilter> read_learn_filters(const nlohmann::json& document) {
  std::vector<LearnFilter> filters;
  for (const auto& described : document.at("learn_filters")) {
    LearnFilter filter{described.at("name"), {}};
    for (const auto& field : described.at("fields"))
      filter.fields.push_back({field.at("name"), width_of(field.at("type"))});
    filters.push_back(std::move(filter));
  }
  return filters;
}

}  // namespace turntable::dataplane
