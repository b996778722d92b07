#include "dataplane/table_state.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dataplane/direct_data.h"
#include "dataplane/entry_codec.h"
#include "dataplane/filter_codec.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

constexpr const char* kCounterPart = "counter";
constexpr const char* kAgePart = "age";
constexpr std::size_t kSettings = 4;  // words of a filter's cell before its average

std::string fields_of(const std::vector<DataSchema>& fields) {
  std::string text;
  for (const DataSchema& field : fields)
    text +=
        (text.empty() ? "" : ", ") + field.name + " of " + std::to_string(field.width) + " bits";
  return text;
}

// Nobody is forwarded by counts; of an age, what matters is whether it has an end.
bool needs_place(const std::string& name, const Json& part) {
  if (name == kCounterPart) return false;
  if (name != kAgePart) return true;
  auto words = part.at("words").get<Table::Words>();
  return Aging(words.data()).ttl_ms() != 0;
}

bool needs_place(const Json& entry) {
  if (entry.contains("data")) return true;
  const Json direct = entry.value("direct", Json::object());
  return std::any_of(direct.items().begin(), direct.items().end(),
                     [](const auto& part) { return needs_place(part.key(), part.value()); });
}

std::string count_of_entries(const Json& state) {
  const auto entries = std::count_if(state.at("entries").begin(), state.at("entries").end(),
                                     [](const Json& entry) { return needs_place(entry); });
  if (entries == 0) return "another default entry than at its start; reset that first";
  return std::to_string(entries) + (entries == 1 ? " entry" : " entries") + "; delete them first";
}

}  // namespace

TableState::TableState(std::string program, const TableSchema& schema, Table& table,
                       const ActionProfiles& profiles)
    : program_(std::move(program)),
      schema_(schema),
      table_(table),
      profiles_(profiles),
      parts_(direct_parts(schema, table)),
      fresh_(table.completed({})) {}

std::vector<TableState::DirectPart> TableState::direct_parts(const TableSchema& schema,
                                                             const Table& table) {
  const DirectExterns& direct = table.direct();
  std::vector<DirectPart> parts;
  if (direct.counter) parts.push_back({kCounterPart, "packets and bytes", 1, direct.meter_start()});
  if (direct.meter) {
    parts.push_back({"meter", *direct.meter == MeterUnit::kBytes ? "bytes" : "packets",
                     direct.meter_start(), direct.filter_start()});
  }
  if (direct.filter) {
    parts.push_back({"filter", *direct.filter == FilterKind::kLpf ? "Lpf" : "Wred",
                     direct.filter_start(), direct.cell_start()});
  }
  if (!direct.cell.empty()) {
    parts.push_back({"register", fields_of(schema.cell), direct.cell_start(), direct.data_start()});
  }
  if (direct.ages) parts.push_back({kAgePart, "", table.aging_start(), table.stride()});
  return parts;
}

Json TableState::keys() const {
  constexpr std::array kKinds = {"exact", "lpm", "ternary", "range"};
  Json keys = Json::array();
  for (const KeySchema& key : schema_.keys) {
    keys.push_back(key.name + ": " + kKinds.at(static_cast<std::size_t>(key.field.kind)) + " of " +
                   std::to_string(key.field.width) + " bits");
  }
  std::sort(keys.begin(), keys.end());  // an entry names them; their order does not matter
  return keys;
}

Json TableState::actions() const {
  Json actions = Json::object();
  for (const ActionSchema& action : schema_.actions) {
    Json fields = Json::array();
    for (const DataSchema& field : action.data) fields.push_back({field.name, field.width});
    actions[action.name] = std::move(fields);
  }
  return actions;
}

Json TableState::direct(std::uint32_t entry) const {
  const auto words = table_.words(entry);
  Json found = Json::object();
  for (const DirectPart& part : parts_) {
    // The average of a filter that was told nothing is its last value.
    const std::size_t end =
        part.name == std::string_view("filter") ? part.begin + kSettings : part.end;
    bool is_fresh = true;
    for (std::size_t i = part.begin; i < end; ++i) is_fresh &= words[i] == fresh_[i];
    if (is_fresh) continue;
    const auto own = words.subspan(part.begin, part.size());
    found[part.name] = {{"kind", part.kind}, {"words", Table::Words(own.begin(), own.end())}};
  }
  return found;
}

void TableState::remove_direct(Json& data) const {
  const DirectData direct_data(schema_, table_);
  for (auto item = data.begin(); item != data.end();)
    item = direct_data.has(item.key()) ? data.erase(item) : std::next(item);
}

Json TableState::entry(std::uint32_t number) const {
  Json entry = EntryCodec(schema_, table_).entry(number);
  if (schema_.is_const) {
    entry.erase("action");
    entry.erase("data");
  } else {
    remove_direct(entry.at("data"));
  }
  if (Json found = direct(number); !found.empty()) entry["direct"] = std::move(found);
  return entry;
}

Json TableState::default_entry() const {
  const auto words = table_.words(kNoEntry);
  const Table::Words& initial = table_.initial_default();
  const std::size_t data_start = table_.data_start();
  const bool is_initial =
      words.front() == initial.front() &&
      std::equal(words.begin() + static_cast<std::ptrdiff_t>(data_start), words.end(),
                 initial.begin() + static_cast<std::ptrdiff_t>(data_start));
  Json found = Json::object();
  if (!is_initial) {
    found = EntryCodec(schema_, table_).default_entry();
    remove_direct(found.at("data"));
  }
  if (Json parts = direct(kNoEntry); !parts.empty()) found["direct"] = std::move(parts);
  return found;
}

Json TableState::read() const {
  Json entries = Json::array();
  for (const std::uint32_t number : table_.entries_as_asked()) {
    Json found = entry(number);
    if (!schema_.is_const || found.contains("direct")) entries.push_back(std::move(found));
  }
  Json default_found = default_entry();
  const bool lost_entries =
      !schema_.is_const && !table_.initial_entries().empty() && entries.empty();
  if (entries.empty() && default_found.empty() && !lost_entries) return {};
  Json state = {{"keys", keys()},
                {"implementation", profiles_.implementation_of(schema_)},
                {"actions", actions()},
                {"is_const", schema_.is_const},
                {"entries", std::move(entries)}};
  if (!default_found.empty()) state["default"] = std::move(default_found);
  return state;
}

std::string TableState::named(const Match* match) const {
  const std::string table = "table " + schema_.name;
  if (match == nullptr) return table + ", default entry";
  return table + ", entry " + EntryCodec(schema_, table_).described(*match);
}

bool TableState::have_place(const Json& entries, const Json& state) const {
  const auto refuse_unless_counts = [&](const std::string& what) {
    if (std::none_of(entries.begin(), entries.end(),
                     [](const Json& entry) { return needs_place(entry); }))
      return false;
    throw state_conflict("table " + schema_.name + ": program " + program_ + " has " + what +
                         ", and the table has " + count_of_entries(state));
  };
  if (const Json now = keys(); now != state.at("keys"))
    return refuse_unless_counts("the key " + now.dump() + " instead of " + state.at("keys").dump());
  if (schema_.is_const && !state.at("is_const"))
    return refuse_unless_counts("constants for entries");
  const Json now = profiles_.implementation_of(schema_);
  if (now == state.at("implementation")) return true;
  return refuse_unless_counts("the implementation " + now.dump() + " instead of " +
                              state.at("implementation").dump());
}

void TableState::check_action(const Json& state, const Json& now, const Json& entry,
                              const Match* match) const {
  if (!entry.contains("action")) return;
  const std::string name = entry.at("action");
  const auto found = now.find(name);
  if (found == now.end())
    throw state_conflict(named(match) + ": action " + name +
                         " is none of this table's in program " + program_ +
                         "; delete the entry first, or give it another action");
  const Json& before = state.at("actions").at(name);
  if (std::is_permutation(found->begin(), found->end(), before.begin(), before.end())) return;
  throw state_conflict(named(match) + ": action " + name + " has the data " + found->dump() +
                       " instead of " + before.dump() + " in program " + program_ +
                       "; delete the entry first");
}

void TableState::put_direct(const Json& entry, const Match* match, Table::Words& words) const {
  const auto direct = entry.find("direct");
  if (direct == entry.end()) return;
  for (const auto& [name, held] : direct->items()) {
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [&, &name = name, &held = held](const DirectPart& each) {
                                     return each.name == name && each.kind == held.at("kind") &&
                                            each.size() == held.at("words").size();
                                   });
    if (part != parts_.end()) {
      const auto own = held.at("words").get<Table::Words>();
      std::copy(own.begin(), own.end(), words.begin() + static_cast<std::ptrdiff_t>(part->begin));
    } else if (needs_place(name, held)) {
      throw state_conflict(
          named(match) + ": it has a direct " + name + " (" + held.at("kind").get<std::string>() +
          ") that is set, and the table in program " + program_ + " has none such; reset it first");
    }
  }
}

void TableState::take_entry(const Json& state, const Json& actions_now, const Json& entry) {
  const EntryCodec codec(schema_, table_);
  const Match match = codec.match(entry);
  if (entry.contains("data")) {
    check_action(state, actions_now, entry, &match);
    if (table_.size() >= table_.capacity()) {
      throw state_conflict("table " + schema_.name + " has room for " +
                           std::to_string(table_.capacity()) + " entries in program " + program_ +
                           ", and has " + count_of_entries(state));
    }
    profiles_.check_named(schema_, entry);
    Table::Words words = codec.words(entry, false);
    put_direct(entry, &match, words);
    table_.insert(match, words);
    return;
  }
  const std::uint32_t number = table_.find(match);
  if (number == kNoEntry) {
    if (!needs_place(entry)) return;
    throw state_conflict(named(&match) + ": program " + program_ +
                         " has not this constant, whose direct externs are set; reset them first");
  }
  const auto now = table_.words(number);
  Table::Words words(now.begin(), now.end());
  put_direct(entry, &match, words);
  table_.replace(number, words);
}

void TableState::take_default(const Json& state, const Json& actions_now) {
  const auto found = state.find("default");
  if (found == state.end()) return;
  const auto now = table_.words(kNoEntry);
  Table::Words words(now.begin(), now.end());
  if (found->contains("data")) {
    if (state.at("implementation") != profiles_.implementation_of(schema_))
      throw state_conflict(named(nullptr) + ": program " + program_ + " has the implementation " +
                           profiles_.implementation_of(schema_).dump() + "; reset the entry first");
    check_action(state, actions_now, *found, nullptr);
    words = EntryCodec(schema_, table_).words(*found, true);
    if (schema_.has_const_default_action && words != table_.initial_default())
      throw state_conflict(named(nullptr) + ": it is a constant of program " + program_ +
                           "; reset the entry first");
  }
  put_direct(*found, nullptr, words);
  table_.replace(kNoEntry, words);
}

void TableState::take(const Json& state) {
  const Json& entries = state.at("entries");
  const bool takes_entries = have_place(entries, state);
  if (!schema_.is_const && !state.at("is_const")) {
    for (const std::uint32_t entry : table_.entries()) table_.erase(Match(table_.match(entry)));
    table_.commit();
  }
  const Json actions_now = actions();
  try {
    if (takes_entries)
      for (const Json& entry : entries) take_entry(state, actions_now, entry);
    take_default(state, actions_now);
  } catch (const CommandError& error) {  // of what the entry says, for instance its action's scope
    throw state_conflict(error.what());
  }
  table_.commit();
}

void TableState::check_removal(const std::string& program, const std::string& table,
                               const Json& state) {
  const Json& entries = state.at("entries");
  const bool has_any = std::any_of(entries.begin(), entries.end(),
                                   [](const Json& entry) { return needs_place(entry); }) ||
                       needs_place(state.value("default", Json::object()));
  if (!has_any) return;
  throw state_conflict("program " + program + " has no table " + table + ", and the table has " +
                       count_of_entries(state));
}

}  // namespace turntable::dataplane
