#include "p4runtime_server/entry_values.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "dataplane/values.h"
#include "p4runtime_server/bytestring.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using config::MatchField;
using dataplane::uint128;

constexpr std::uint32_t kLastPriority = 0xFFFFFF;  // of 24 bits, as the chip has them

Json number(uint128 value) {
  return dataplane::format_value(value);
}

Json exact(const MatchField& field, const p4::v1::FieldMatch& match, const std::string& what) {
  if (!match.has_exact()) throw invalid(what + ": expected an exact match");
  return value_of(match.exact().value(), {field.bitwidth()}, what);
}

Json ternary(const MatchField& field, const p4::v1::FieldMatch& match, const std::string& what) {
  if (!match.has_ternary()) throw invalid(what + ": expected a ternary match");
  const uint128 value = from_bytestring(match.ternary().value(), field.bitwidth(), what);
  const uint128 mask = from_bytestring(match.ternary().mask(), field.bitwidth(), what + ", mask");
  if (mask == 0) throw invalid(what + ": a mask of zeros matches everything: leave the field out");
  if ((value & ~mask) != 0)
    throw invalid(what + ": the value has bits outside its mask; they must be zero");
  return {{"value", number(value)}, {"mask", number(mask)}};
}

Json lpm(const MatchField& field, const p4::v1::FieldMatch& match, const std::string& what) {
  if (!match.has_lpm()) throw invalid(what + ": expected a longest-prefix match");
  const int width = field.bitwidth();
  const int length = match.lpm().prefix_len();
  const uint128 value = from_bytestring(match.lpm().value(), width, what);
  if (length == 0) throw invalid(what + ": a prefix of no bits matches everything: leave it out");
  if (length < 0 || length > width) {
    throw invalid(what + ": a prefix of " + std::to_string(length) + " bits; expected 1 to " +
                  std::to_string(width));
  }
  if (length < width && (value & all_ones(width - length)) != 0)
    throw invalid(what + ": the value has bits behind its prefix; they must be zero");
  return {{"value", number(value)}, {"prefix_len", length}};
}

Json range(const MatchField& field, const p4::v1::FieldMatch& match, const std::string& what) {
  if (!match.has_range()) throw invalid(what + ": expected a range");
  const uint128 low = from_bytestring(match.range().low(), field.bitwidth(), what + ", low");
  const uint128 high = from_bytestring(match.range().high(), field.bitwidth(), what + ", high");
  if (low > high) throw invalid(what + ": the range's low end is above its high end");
  if (low == 0 && high == all_ones(field.bitwidth()))
    throw invalid(what + ": a range of all values matches everything: leave the field out");
  return {{"low", number(low)}, {"high", number(high)}};
}

Json matched(const MatchField& field, const p4::v1::FieldMatch& match, const std::string& what) {
  switch (field.match_type()) {
    case MatchField::TERNARY:
      return ternary(field, match, what);
    case MatchField::LPM:
      return lpm(field, match, what);
    case MatchField::RANGE:
      return range(field, match, what);
    default:
      return exact(field, match, what);
  }
}

// Nothing where the field matches everything.
void put_match(const MatchField& field, const Json& key, p4::v1::TableEntry& entry) {
  const int width = field.bitwidth();
  const auto part = [&](const char* name) {
    return dataplane::parse_value(key.at(name), width, field.name());
  };
  p4::v1::FieldMatch match;
  match.set_field_id(field.id());
  switch (field.match_type()) {
    case MatchField::TERNARY:
      if (part("mask") == 0) return;
      match.mutable_ternary()->set_value(to_bytestring(part("value")));
      match.mutable_ternary()->set_mask(to_bytestring(part("mask")));
      break;
    case MatchField::LPM:
      if (key.at("prefix_len") == 0) return;
      match.mutable_lpm()->set_value(to_bytestring(part("value")));
      match.mutable_lpm()->set_prefix_len(key.at("prefix_len"));
      break;
    case MatchField::RANGE:
      if (part("low") == 0 && part("high") == all_ones(width)) return;
      match.mutable_range()->set_low(to_bytestring(part("low")));
      match.mutable_range()->set_high(to_bytestring(part("high")));
      break;
    default:
      match.mutable_exact()->set_value(bytestring_of(key, {width}));
  }
  *entry.add_match() = std::move(match);
}

}  // namespace

std::string in(const config::Table& table) {
  return "table " + table.preamble().name();
}

bool has_priority(const config::Table& table) {
  return std::any_of(
      table.match_fields().begin(), table.match_fields().end(), [](const MatchField& field) {
        return field.match_type() == MatchField::TERNARY || field.match_type() == MatchField::RANGE;
      });
}

std::uint32_t switch_priority(const config::Table& table, std::int32_t priority) {
  const std::string what = in(table) + ": priority " + std::to_string(priority) + "; expected ";
  if (!has_priority(table)) {
    if (priority != 0) throw invalid(what + "0, for its fields are exact or prefixes");
    return 0;
  }
  if (priority < 1 || priority > static_cast<std::int32_t>(kLastPriority))
    throw invalid(what + "1 to " + std::to_string(kLastPriority));
  return kLastPriority - static_cast<std::uint32_t>(priority);
}

std::int32_t client_priority(std::uint32_t priority) {
  return static_cast<std::int32_t>(kLastPriority - priority);
}

Json key_of(const MatchFields& fields, const FieldMatches& given, const std::string& owner) {
  Json key = Json::object();
  for (const p4::v1::FieldMatch& match : given) {
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const MatchField& each) {
      return each.id() == match.field_id();
    });
    if (field == fields.end())
      throw invalid(owner + " has no field with id " + std::to_string(match.field_id()));
    const std::string what = owner + ", field " + field->name();
    if (key.contains(field->name())) throw invalid(what + " is given twice");
    key[field->name()] = matched(*field, match, what);
  }
  for (const MatchField& field : fields) {
    if (field.match_type() == MatchField::EXACT && !key.contains(field.name())) {
      throw invalid(owner + ", field " + field.name() + " is missing; exact fields must be given");
    }
  }
  return key;
}

Json key_of(const config::Table& table, const p4::v1::TableEntry& entry) {
  return key_of(table.match_fields(), entry.match(), in(table));
}

Json full_key(const config::Table& table, Json key) {
  for (const MatchField& field : table.match_fields()) {
    if (key.contains(field.name())) continue;
    switch (field.match_type()) {
      case MatchField::TERNARY:
        key[field.name()] = {{"value", 0}, {"mask", 0}};
        break;
      case MatchField::LPM:
        key[field.name()] = {{"value", 0}, {"prefix_len", 0}};
        break;
      default:  // a range: exact fields are given
        key[field.name()] = {{"low", 0}, {"high", number(all_ones(field.bitwidth()))}};
    }
  }
  return key;
}

void put_key(const config::Table& table, const Json& key, p4::v1::TableEntry& entry) {
  for (const MatchField& field : table.match_fields())
    put_match(field, key.at(field.name()), entry);
}

Json place_of(const ProgramInfo& info, const config::Table& table,
              const p4::v1::TableEntry& entry) {
  if (table.match_fields().empty()) throw invalid(in(table) + " has no key, so it has no entries");
  Json place = {{"table", info.on_switch(table.preamble())}, {"key", key_of(table, entry)}};
  const std::uint32_t priority = switch_priority(table, entry.priority());
  if (has_priority(table)) place["priority"] = priority;
  return place;
}

p4::v1::TableEntry place_on_switch(const config::Table& table, const Json& found) {
  p4::v1::TableEntry place;
  place.set_table_id(table.preamble().id());
  put_key(table, found.at("key"), place);
  if (found.contains("priority")) place.set_priority(client_priority(found.at("priority")));
  return place;
}

Json entry_at(bfrt_server::SwitchLink& link, const Json& place) {
  Json entry = {{"key", place.at("key")}};
  if (place.contains("priority")) entry["priority"] = place.at("priority");
  const Json read = link.call(
      "table_read", {{"table", place.at("table")}, {"entries", Json::array({std::move(entry)})}});
  return read.at("entries").at(0);
}

void check_default_place(const config::Table& table, const p4::v1::TableEntry& entry) {
  if (!entry.match().empty() || entry.priority() != 0)
    throw invalid(in(table) + ": the default entry has neither a key nor a priority");
}

Json data_of(const config::Action& action, const p4::v1::Action& given) {
  const std::string& name = action.preamble().name();
  Json data = Json::object();
  for (const p4::v1::Action::Param& value : given.params()) {
    const auto parameter =
        std::find_if(action.params().begin(), action.params().end(),
                     [&](const auto& each) { return each.id() == value.param_id(); });
    if (parameter == action.params().end()) {
      throw invalid("action " + name + " has no parameter with id " +
                    std::to_string(value.param_id()));
    }
    const std::string what = "action " + name + ", parameter " + parameter->name();
    if (data.contains(parameter->name())) throw invalid(what + " is given twice");
    try {
      data[parameter->name()] = value_of(value.value(), {parameter->bitwidth()}, what);
    } catch (const Refusal& refusal) {
      throw invalid(refusal.what());  // so says "Action Specification"
    }
  }
  for (const auto& parameter : action.params()) {
    if (!data.contains(parameter.name()))
      throw invalid("action " + name + ", parameter " + parameter.name() + " is missing");
  }
  return data;
}

void put_action(const config::Action& action, const Json& data, p4::v1::Action& put) {
  put.set_action_id(action.preamble().id());
  for (const auto& parameter : action.params()) {
    p4::v1::Action::Param& value = *put.add_params();
    value.set_param_id(parameter.id());
    value.set_value(bytestring_of(data.at(parameter.name()), {parameter.bitwidth()}));
  }
}

}  // namespace turntable::p4runtime_server
