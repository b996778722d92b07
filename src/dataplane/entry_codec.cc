#include "dataplane/entry_codec.h"

#include <bit>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/names.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

uint128 ones(int width) {
  return ~uint128{0} >> (128 - width);
}

uint128 prefix_mask(int prefix, int width) {
  return prefix == 0 ? 0 : ones(width) & ~(prefix == width ? 0 : ones(width - prefix));
}

int population(uint128 value) {
  return std::popcount(static_cast<std::uint64_t>(value)) +
         std::popcount(static_cast<std::uint64_t>(value >> 64));
}

std::string hexadecimal(uint128 value, int width) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text(static_cast<std::size_t>((width + 3) / 4), '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value >>= 4)
    *digit = kDigits[static_cast<std::size_t>(value & 0xF)];
  return "0x" + text;
}

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

const nlohmann::json& object_in(const nlohmann::json& update, const char* member,
                                const std::string& table) {
  static const nlohmann::json empty = nlohmann::json::object();
  if (!update.contains(member)) return empty;
  if (!update.at(member).is_object()) {
    throw bad_argument("table " + table + ": \"" + member + "\" is " + update.at(member).dump() +
                       "; expected an object from names to values");
  }
  return update.at(member);
}

const nlohmann::json& part(const nlohmann::json& value, const char* name, const std::string& what,
                           const char* form) {
  if (!value.is_object() || !value.contains(name)) {
    throw bad_argument(what + ": " + value.dump() + " lacks \"" + name + "\"; expected " + form);
  }
  return value.at(name);
}

}  // namespace

void EntryCodec::put_key(Match& match, const KeySchema& key, const nlohmann::json& value) const {
  const auto [kind, offset, width] = key.field;
  const std::string what = "table " + schema_.name + ", key " + key.name;
  uint128 first = 0, second = 0;
  switch (kind) {
    case MatchKind::kExact:
      first = parse_value(value, width, what);
      break;
    case MatchKind::kLpm: {
      constexpr const char* kForm = "{\"value\", \"prefix_len\"}";
      first = parse_value(part(value, "value", what, kForm), width, what);
      const auto& prefix = part(value, "prefix_len", what, kForm);
      if (!is_natural(prefix) || prefix.get<std::uint64_t>() > static_cast<unsigned>(width)) {
        throw bad_argument(what + ": prefix_len " + prefix.dump() + " is not from 0 to " +
                           std::to_string(width));
      }
      second = prefix_mask(prefix.get<int>(), width);
      first &= second;
      break;
    }
    case MatchKind::kTernary:
      second =
          parse_value(part(value, "mask", what, "{\"value\", \"mask\"}"), width, what + " mask");
      first =
          second & parse_value(part(value, "value", what, "{\"value\", \"mask\"}"), width, what);
      break;
    case MatchKind::kRange:
      first = parse_value(part(value, "low", what, "{\"low\", \"high\"}"), width, what + " low");
      second = parse_value(part(value, "high", what, "{\"low\", \"high\"}"), width, what + " high");
      if (first > second) {
        throw bad_argument(what + ": low is above high in " + value.dump());
      }
      break;
  }
  pack_field(match.first.data(), offset, width, first);
  if (!match.second.empty()) pack_field(match.second.data(), offset, width, second);
}

Match EntryCodec::match(const nlohmann::json& update) const {
  const std::size_t words = static_cast<std::size_t>(words_for(schema_.key_bits));
  Match match{std::vector<std::uint64_t>(words), {}, 0};
  if (!schema_.all_exact()) match.second.resize(words);

  const std::vector<std::string> names = names_of(schema_.keys);
  std::vector<const nlohmann::json*> given(names.size());
  for (const auto& [name, value] : object_in(update, "key", schema_.name).items()) {
    const std::size_t i = resolve_name(names, name, "key", "of table " + schema_.name);
    if (given[i] != nullptr)
      throw bad_argument("table " + schema_.name + ": key " + names[i] + " is given twice");
    given[i] = &value;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const KeySchema& key = schema_.keys[i];
    if (given[i] != nullptr) {
      put_key(match, key, *given[i]);
    } else if (key.field.kind == MatchKind::kExact) {
      throw bad_argument("table " + schema_.name + ": key " + key.name +
                         " is missing; it is exact, so every entry needs a value for it");
    } else if (key.field.kind == MatchKind::kRange) {
      pack_field(match.second.data(), key.field.offset, key.field.width, ones(key.field.width));
    }
  }
  if (!update.contains("priority")) return match;
  if (!schema_.has_priority) {
    throw bad_argument(
        "table " + schema_.name +
        ": \"priority\" is given, but only tables with ternary or range keys have one");
  }
  match.priority = static_cast<std::uint32_t>(
      parse_value(update.at("priority"), 24, "table " + schema_.name + ", priority"));
  return match;
}

std::size_t EntryCodec::action_of(const nlohmann::json& update, bool for_default) const {
  if (!schema_.has_actions()) {
    if (!update.contains("action")) return 0;
    throw bad_argument("table " + schema_.name + " has no actions; leave \"action\" out");
  }
  if (!update.contains("action") || !update.at("action").is_string()) {
    throw bad_argument("table " + schema_.name +
                       ": \"action\" is missing; expected an action's name");
  }
  const std::string& wanted = update.at("action").get_ref<const std::string&>();
  const std::size_t number =
      resolve_name(names_of(schema_.actions), wanted, "action", "of table " + schema_.name);
  const ActionSchema& action = schema_.actions[number];
  if (for_default ? !action.as_default : !action.in_entries) {
    throw bad_argument("table " + schema_.name + ": action " + action.name + " is " +
                       (for_default ? "@tableonly: it cannot be the default action"
                                    : "@defaultonly: it cannot be used in entries"));
  }
  return number;
}

bool EntryCodec::is_direct_only(const nlohmann::json& update) const {
  if (update.contains("action")) return false;
  const nlohmann::json& data = object_in(update, "data", schema_.name);
  for (const auto& [name, value] : data.items())
    if (!direct_.has(name)) return false;
  return schema_.has_actions() || !data.empty();
}

void EntryCodec::put_direct(const nlohmann::json& update, Table::Words& words) const {
  direct_.put(object_in(update, "data", schema_.name), words);
}

Table::Words EntryCodec::words(const nlohmann::json& update, bool for_default) const {
  if (schema_.is_indirect()) return named(update, for_default);
  const std::size_t number = action_of(update, for_default);
  const ActionSchema& action = schema_.actions[number];
  Table::Words words = table_.completed({number});
  const std::vector<std::string> names = names_of(action.data);
  std::vector<bool> given(names.size());
  const std::string where = (schema_.has_actions() ? "of action " + action.name + " in table "
                                                   : std::string("of table ")) +
                            schema_.name;
  for (const auto& [name, value] : object_in(update, "data", schema_.name).items()) {
    if (direct_.has(name)) continue;
    const std::size_t i = resolve_name(names, name, "data", where);
    const DataSchema& field = action.data[i];
    const uint128 parsed = parse_value(value, field.width, "data " + field.name + " " + where);
    const std::size_t word = table_.data_start() + static_cast<std::size_t>(field.word);
    words[word] = static_cast<std::uint64_t>(parsed);
    if (field.width > 64) words[word + 1] = static_cast<std::uint64_t>(parsed >> 64);
    given[i] = true;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!given[i]) throw bad_argument("data " + names[i] + " " + where + " is missing");
  }
  put_direct(update, words);
  return words;
}

// Of an entry that has no action of its own.
Table::Words EntryCodec::named(const nlohmann::json& update, bool for_default) const {
  const bool by_group = schema_.type.ends_with("Selector");
  nlohmann::json data = object_in(update, "data", schema_.name);
  for (auto item = data.begin(); item != data.end();)
    item = direct_.has(item.key()) ? data.erase(item) : std::next(item);
  const std::string expected = std::string("; expected a number as \"$ACTION_MEMBER_ID\"") +
                               (by_group ? ", or as \"$SELECTOR_GROUP_ID\"" : "") +
                               " among its data, and nothing else";
  const auto is_known = [&](const std::string& name) {
    return name == kMemberField || (by_group && name == kGroupField);
  };
  if (update.contains("action") || data.size() != 1 || !is_known(data.begin().key()))
    throw bad_argument("table " + schema_.name + ": an entry names its action" + expected);
  const std::uint32_t of_member = for_default ? kDefaultOfMember : kOfMember;
  Table::Words words = table_.completed({data.contains(kGroupField) ? kOfGroup : of_member});
  words[table_.data_start()] = static_cast<std::uint64_t>(
      parse_value(*data.begin(), 32, "table " + schema_.name + ", " + data.begin().key()));
  put_direct(update, words);
  return words;
}

nlohmann::json EntryCodec::key(std::uint32_t number) const {
  const Match& match = table_.match(number);
  nlohmann::json result = nlohmann::json::object();
  for (const KeySchema& key : schema_.keys) {
    const auto [kind, offset, width] = key.field;
    const uint128 first = unpack_field(match.first.data(), offset, width);
    const uint128 second =
        match.second.empty() ? 0 : unpack_field(match.second.data(), offset, width);
    switch (kind) {
      case MatchKind::kExact:
        result[key.name] = format_value(first);
        break;
      case MatchKind::kLpm:
        result[key.name] = {{"value", format_value(first)}, {"prefix_len", population(second)}};
        break;
      case MatchKind::kTernary:
        result[key.name] = {{"value", format_value(first)}, {"mask", format_value(second)}};
        break;
      case MatchKind::kRange:
        result[key.name] = {{"low", format_value(first)}, {"high", format_value(second)}};
        break;
    }
  }
  return result;
}

std::string EntryCodec::described(const Match& match) const {
  std::string text;
  for (const KeySchema& key : schema_.keys) {
    const auto [kind, offset, width] = key.field;
    const uint128 first = unpack_field(match.first.data(), offset, width);
    const uint128 second =
        match.second.empty() ? 0 : unpack_field(match.second.data(), offset, width);
    text += (text.empty() ? "" : ", ") + key.name + " " + hexadecimal(first, width);
    if (kind == MatchKind::kLpm) text += "/" + std::to_string(population(second));
    if (kind == MatchKind::kTernary) text += " &&& " + hexadecimal(second, width);
    if (kind == MatchKind::kRange) text += " .. " + hexadecimal(second, width);
  }
  if (schema_.has_priority) text += ", priority " + std::to_string(match.priority);
  return text;
}

nlohmann::json EntryCodec::counter(std::uint32_t number) const {
  return direct_.counts(number);
}

nlohmann::json EntryCodec::action_and_data(std::uint32_t number) const {
  const auto words = table_.words(number);
  nlohmann::json data = direct_.all(number);
  if (schema_.is_indirect()) {
    data[words[0] == kOfGroup ? kGroupField : kMemberField] = words[table_.data_start()];
    return {{"data", data}};
  }
  const ActionSchema& action = schema_.actions.at(words[0]);
  for (const DataSchema& field : action.data) {
    const std::size_t word = table_.data_start() + static_cast<std::size_t>(field.word);
    const uint128 high = field.width > 64 ? words[word + 1] : 0;
    data[field.name] = format_value(high << 64 | words[word]);
  }
  if (!schema_.has_actions()) return {{"data", data}};
  return {{"action", action.name}, {"data", data}};
}

nlohmann::json EntryCodec::entry(std::uint32_t number) const {
  nlohmann::json result = action_and_data(number);
  result["key"] = key(number);
  if (schema_.has_priority) result["priority"] = table_.match(number).priority;
  return result;
}

nlohmann::json EntryCodec::default_entry() const {
  const bool names_member =
      schema_.is_indirect() && table_.words(kNoEntry).front() == kDefaultOfMember;
  return schema_.has_default() || names_member ? action_and_data(kNoEntry) : nlohmann::json();
}

}  // namespace turntable::dataplane
