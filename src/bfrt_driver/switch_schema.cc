#include "bfrt_driver/switch_schema.h"

#include <algorithm>
#include <set>

#include "dataplane/names.h"

namespace turntable::bfrt_driver {
namespace {

using Json = nlohmann::json;

// What two compilations of one program must have in common, apart from ids.
using Facts = std::set<std::string>;

Json parse_fixed(const std::string& text) {
  return text.empty() ? Json{{"tables", Json::array()}} : Json::parse(text);
}

std::string type_of(const bfrt::Field& field) {
  if (field.kind == bfrt::Field::Kind::kNumber) return "bit<" + std::to_string(field.width) + ">";
  return field.kind == bfrt::Field::Kind::kBool ? "bool" : "no number";
}

Facts facts_of(const bfrt::Schema& schema) {
  Facts facts;
  for (const bfrt::Table& table : schema.tables()) {
    const std::string name = "table " + table.name;
    facts.insert(name);
    for (const bfrt::Field& key : table.keys)
      facts.insert(name + ", key " + key.name + ": " + type_of(key));
    for (const bfrt::Action& action : table.actions) {
      facts.insert(name + ", action " + action.name);
      for (const bfrt::Field& field : action.data) {
        facts.insert(name + ", action " + action.name + ", data " + field.name + ": " +
                     type_of(field));
      }
    }
  }
  return facts;
}

}  // namespace

bool is_fixed(const bfrt::Table& table) {
  return table.name.starts_with('$') || table.name.starts_with("tf1.");
}

bool is_match_action(const bfrt::Table& table) {
  return table.type.starts_with("MatchAction_");
}

bool counts(const bfrt::Table& table) {
  return std::any_of(table.data.begin(), table.data.end(), [](const bfrt::Field& field) {
    return field.name.starts_with("$COUNTER_SPEC_");
  });
}

bool has_operation(const bfrt::Table& table, const std::string& operation) {
  return std::find(table.operations.begin(), table.operations.end(), operation) !=
         table.operations.end();
}

SwitchSchema::SwitchSchema(std::string program, const std::string& program_json,
                           const std::string& fixed_json)
    : program_(std::move(program)),
      document_(Json::parse(program_json)),
      tables_(document_),
      fixed_(parse_fixed(fixed_json)) {
  for (const bfrt::Table& table : tables_.tables()) names_.push_back(table.name);
  for (const bfrt::Table& table : fixed_.tables()) names_.push_back(table.name);
}

const bfrt::Table& SwitchSchema::table(const std::string& wanted) const {
  const std::size_t place =
      dataplane::resolve_name(names_, wanted, "table", "of program " + program_);
  const std::size_t of_program = tables_.tables().size();
  return place < of_program ? tables_.tables()[place] : fixed_.tables()[place - of_program];
}

bool SwitchSchema::has(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

const bfrt::LearnFilter* SwitchSchema::learn_filter(std::uint32_t id) const {
  const auto& filters = tables_.learn_filters();
  const auto found = std::find_if(filters.begin(), filters.end(),
                                  [&](const bfrt::LearnFilter& filter) { return filter.id == id; });
  return found == filters.end() ? nullptr : &*found;
}

std::vector<std::string> differences(const bfrt::Schema& loaded, const Json& expected,
                                     std::size_t most) {
  const Facts here = facts_of(bfrt::Schema(expected));
  const Facts there = facts_of(loaded);
  std::vector<std::string> lines;
  for (const std::string& fact : here) {
    if (!there.contains(fact)) lines.push_back("the switch lacks " + fact);
  }
  for (const std::string& fact : there) {
    if (!here.contains(fact)) lines.push_back("only the switch has " + fact);
  }
  if (lines.size() > most) lines.resize(most);
  return lines;
}

}  // namespace turntable::bfrt_driver
