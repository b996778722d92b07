#include "p4runtime_server/value_sets.h"

#include <set>

#include "dataplane/values.h"
#include "p4runtime_server/bytestring.h"
#include "p4runtime_server/entry_values.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using p4::v1::Update;

std::string name_of(const config::ValueSet& set) {
  return "value set " + set.preamble().name();
}

// To clients all fields are exact, to softswitch ternary, as in the parser of the ASIC.
Json with_full_masks(const config::ValueSet& set, const Json& exact) {
  Json key = Json::object();
  for (const config::MatchField& field : set.match()) {
    key[field.name()] = {{"value", exact.at(field.name())},
                         {"mask", dataplane::format_value(all_ones(field.bitwidth()))}};
  }
  return key;
}

// Only another control plane gives a value a mask of its own.
void put_match(const config::MatchField& field, const Json& key, p4::v1::ValueSetMember& member) {
  const auto part = [&](const char* name) {
    return dataplane::parse_value(key.at(name), field.bitwidth(), field.name());
  };
  if (part("mask") == 0) return;
  p4::v1::FieldMatch& match = *member.add_match();
  match.set_field_id(field.id());
  if (part("mask") == all_ones(field.bitwidth())) {
    match.mutable_exact()->set_value(to_bytestring(part("value")));
  } else {
    match.mutable_ternary()->set_value(to_bytestring(part("value")));
    match.mutable_ternary()->set_mask(to_bytestring(part("mask")));
  }
}

void read_value_set(RunningProgram& program, const config::ValueSet& set, const Entities& found) {
  const Json result =
      program.link().call("table_read", {{"table", program.info().on_switch(set.preamble())}});
  p4::v1::Entity entity;
  p4::v1::ValueSetEntry& entry = *entity.mutable_value_set_entry();
  entry.set_value_set_id(set.preamble().id());
  for (const Json& each : result.at("entries")) {
    p4::v1::ValueSetMember& member = *entry.add_members();
    for (const config::MatchField& field : set.match())
      put_match(field, each.at("key").at(field.name()), member);
  }
  found(std::move(entity));
}

}  // namespace

SwitchUpdate write_value_set(const ProgramInfo& info, Update::Type type,
                             const p4::v1::ValueSetEntry& entry) {
  const config::ValueSet& set = info.value_set(entry.value_set_id());
  if (type != Update::MODIFY)
    throw invalid(name_of(set) + " is always there; it can only be modified");
  if (entry.members_size() > set.size()) {
    throw Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED,
                  name_of(set) + ": " + std::to_string(entry.members_size()) +
                      " members; its size is " + std::to_string(set.size()));
  }
  const std::string table = info.on_switch(set.preamble());
  Json updates = Json::array();
  updates.push_back({{"table", table}, {"op", "clear"}});
  std::set<Json> seen;
  for (const p4::v1::ValueSetMember& member : entry.members()) {
    const Json key = key_of(set.match(), member.match(), name_of(set));
    if (!seen.insert(key).second)
      throw Refusal(grpc::StatusCode::ALREADY_EXISTS, name_of(set) + ": a member is there twice");
    updates.push_back({{"table", table}, {"op", "insert"}, {"key", with_full_masks(set, key)}});
  }
  return {std::move(updates)};
}

void read_value_sets(RunningProgram& program, const p4::v1::ValueSetEntry& wanted,
                     const Entities& found) {
  const ProgramInfo& info = program.info();
  if (wanted.value_set_id() != 0)
    return read_value_set(program, info.value_set(wanted.value_set_id()), found);
  for (const config::ValueSet& set : info.document().value_sets())
    read_value_set(program, set, found);
}

}  // namespace turntable::p4runtime_server
