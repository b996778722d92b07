#include "dataplane/program_control.h"

#include <functional>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/entries_asked.h"
#include "dataplane/entry_codec.h"
#include "dataplane/filter_codec.h"
#include "dataplane/meter_codec.h"
#include "dataplane/names.h"
#include "dataplane/operation.h"
#include "dataplane/register_codec.h"
#include "dataplane/table_batch.h"
#include "dataplane/update_errors.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

void put_count(Counter::Cell& cell, const std::string& name, const nlohmann::json& value,
               const std::string& what) {
  const bool packets = name == "$COUNTER_SPEC_PKTS";
  if (!packets && name != "$COUNTER_SPEC_BYTES")
    throw bad_argument(what + ": no data field \"" + name + "\"");
  (packets ? cell.packets : cell.bytes) =
      static_cast<std::uint64_t>(parse_value(value, 64, what + ", " + name));
}

struct CounterCells {
  std::uint32_t first;
  std::uint32_t end;  // behind the last
};

// Without an index, all.
CounterCells counter_cells(const std::string& what, const Counter& counter,
                           const nlohmann::json& args) {
  if (!args.contains("index")) return {0, counter.size()};
  const auto index =
      static_cast<std::uint32_t>(parse_value(args.at("index"), 32, what + ", index"));
  if (index < counter.size()) return {index, index + 1};
  throw bad_argument(what + ": index " + std::to_string(index) + " is not below its size " +
                     std::to_string(counter.size()));
}

// All of them or, where a count is wrong, none.
void write_counts(const std::string& what, Counter& counter, const nlohmann::json& args) {
  const CounterCells cells = counter_cells(what, counter, args);
  const nlohmann::json data = args.value("data", nlohmann::json::object());
  Counter::Cell checked;
  for (const auto& [name, value] : data.items()) put_count(checked, name, value, what);
  for (std::uint32_t index = cells.first; index < cells.end; ++index) {
    for (const auto& [name, value] : data.items())
      put_count(counter.cell(index), name, value, what);
  }
}

// What makes them what they are now.
std::function<void()> undo_of_counts(const std::string& what, Counter& counter,
                                     const nlohmann::json& args) {
  const CounterCells cells = counter_cells(what, counter, args);
  std::vector<Counter::Cell> before;
  for (std::uint32_t index = cells.first; index < cells.end; ++index)
    before.push_back(counter.cell(index));
  return [&counter, first = cells.first, before = std::move(before)] {
    for (std::size_t i = 0; i < before.size(); ++i)
      counter.cell(first + static_cast<std::uint32_t>(i)) = before[i];
  };
}

std::function<void()> undo_of_values(RegisterCodec codec, const nlohmann::json& args) {
  const auto values = args.find("values");
  if (values == args.end() || !values->is_array())
    throw bad_argument("\"values\" is missing; expected an array, one value per cell");
  const nlohmann::json range = {{"first", args.value("first", nlohmann::json(0))},
                                {"count", values->size()}};
  return [codec, before = codec.read(range)]() mutable {
    codec.write({{"first", before.at("first")}, {"values", before.at("values")}});
  };
}

class BatchWrite final : public TableWrite {
 public:
  const nlohmann::json& answer() const override { return answered; }
  void commit() noexcept override { batch.commit(); }

  TableBatch batch;
  nlohmann::json answered;
};

}  // namespace

ProgramControl::ProgramControl(std::string program, std::string_view schema_json,
                               DigestQueue& digests, std::string_view p4info)
    : program_(std::move(program)),
      document_(nlohmann::json::parse(schema_json)),
      p4info_(p4info),
      schemas_(read_schema(document_)),
      digests_(digests),
      learn_filters_(read_learn_filters(document_)) {
  for (const TableSchema& schema : schemas_) names_.push_back(schema.name);
}

const std::map<std::string, ProgramControl::Handler, std::less<>>& ProgramControl::handlers() {
  static const std::map<std::string, Handler, std::less<>> table = {
      {"table_write", &ProgramControl::table_write},
      {"table_read", &ProgramControl::table_read},
      {"table_info", &ProgramControl::table_info},
      {"aging_update", &ProgramControl::aging_update},
      {"aging_events", &ProgramControl::aging_events},
      {"aging_read", &ProgramControl::aging_read},
      {"schema", &ProgramControl::schema},
      {"p4info", &ProgramControl::p4info},
      {"counter_read", &ProgramControl::counter_read},
      {"counter_write", &ProgramControl::counter_write},
      {"counter_clear", &ProgramControl::counter_clear},
      {"register_read", &ProgramControl::register_read},
      {"register_write", &ProgramControl::register_write},
      {"register_clear", &ProgramControl::register_clear},
      {"meter_write", &ProgramControl::meter_write},
      {"meter_read", &ProgramControl::meter_read},
      {"meter_clear", &ProgramControl::meter_clear},
      {"meter_byte_count_adjust", &ProgramControl::meter_byte_count_adjust},
      {"selector_member", &ProgramControl::selector_member},
      {"filter_write", &ProgramControl::filter_write},
      {"filter_read", &ProgramControl::filter_read},
      {"hash_write", &ProgramControl::hash_write},
      {"hash_read", &ProgramControl::hash_read},
      {"hash_reset", &ProgramControl::hash_reset},
      {"settings_reset", &ProgramControl::settings_reset},
      {"digest_read", &ProgramControl::digest_read},
      {"random_seed", &ProgramControl::random_seed},
  };
  return table;
}

std::vector<std::string> ProgramControl::commands() const {
  std::vector<std::string> names;
  for (const auto& [name, handler] : handlers()) names.push_back(name);
  return names;
}

nlohmann::json ProgramControl::execute(std::string_view command, const nlohmann::json& args) {
  const auto handler = handlers().find(command);
  if (handler == handlers().end()) {
    throw CommandError("unknown_command",
                       "program " + program_ + " has no command '" + std::string(command) + "'");
  }
  if (!args.is_object()) throw bad_argument("args is " + args.dump() + "; expected an object");
  return (this->*handler->second)(args);
}

const TableSchema& ProgramControl::resolve(const nlohmann::json& args) const {
  if (!args.contains("table") || !args.at("table").is_string()) {
    throw bad_argument("\"table\" is missing; expected a table's name, for instance \"" +
                       (names_.empty() ? "" : names_.front()) + "\"");
  }
  const std::string& wanted = args.at("table").get_ref<const std::string&>();
  return schemas_[resolve_name(names_, wanted, "table", "of program " + program_)];
}

Table* ProgramControl::table_of(const TableSchema& schema) const {
  const auto table = tables_.find(schema.name);
  return table == tables_.end() ? nullptr : table->second;
}

Table& ProgramControl::match_table(const TableSchema& schema) const {
  Table* table = table_of(schema);
  if (table == nullptr) {
    throw bad_argument(
        "table " + schema.name + " is of type " + schema.type +
        ", not a match-action table; use the commands counter_…, register_… or meter_…");
  }
  return *table;
}

void ProgramControl::apply(TableBatch& batch, const nlohmann::json& update,
                           RowOutcomes* rows) const {
  if (!update.is_object()) throw bad_argument("is " + update.dump() + "; expected an object");
  const TableSchema& schema = resolve(update);
  if (schema.is_selector()) return batch.attempt([&] { profiles_.write(schema, update, batch); });
  if (has_cells(schema)) return batch.attempt([&] { apply_to_cells(batch, schema, update); });
  Table& table = match_table(schema);
  profiles_.check(schema, update);
  batch.apply(schema, table, update, rows);
}

bool ProgramControl::has_cells(const TableSchema& schema) const {
  return counters_.contains(schema.name) || registers_.contains(schema.name) ||
         meters_.contains(schema.name);
}

// {"op": "modify"} with what the commands counter_write, register_write and meter_write take.
void ProgramControl::apply_to_cells(TableBatch& batch, const TableSchema& schema,
                                    const nlohmann::json& update) const {
  constexpr const char* kExpected = "\"modify\": cells are always there";
  const std::string operation = operation_of(update, kExpected);
  if (operation != "modify") throw unknown_operation(operation, kExpected);
  if (counters_.contains(schema.name)) {
    const std::string what = "counter " + schema.name;
    batch.changed(undo_of_counts(what, counter_of(schema), update), true);
    write_counts(what, counter_of(schema), update);
  } else if (registers_.contains(schema.name)) {
    RegisterCodec codec(schema, register_of(schema));
    batch.changed(undo_of_values(codec, update), true);
    codec.write(update);
  } else {
    MeterCodec codec(schema.name, meter_of(schema));
    batch.changed(codec.undo_of(update), true);
    codec.write(update);
  }
}

nlohmann::json ProgramControl::table_write(const nlohmann::json& args) {
  const auto written = write_tables(args);
  written->commit();
  return written->answer();
}

std::unique_ptr<TableWrite> ProgramControl::write_tables(const nlohmann::json& args) {
  if (!args.contains("updates") || !args.at("updates").is_array()) {
    throw bad_argument("table_write: \"updates\" is missing; expected an array of updates");
  }
  const auto& updates = args.at("updates");
  auto written = std::make_unique<BatchWrite>();
  TableBatch& batch = written->batch;
  if (continues_on_error(args)) {
    UpdateErrors errors;
    for (std::size_t i = 0; i < updates.size(); ++i) {
      errors.attempt(i, [&](RowOutcomes* rows) {
        apply(batch, updates[i], rows);
        if (batch.replaced()) errors.replaced();
      });
    }
    written->answered = errors.answer();
    return written;
  }
  nlohmann::json not_found = nlohmann::json::array();
  for (std::size_t i = 0; i < updates.size(); ++i) {
    try {
      apply(batch, updates[i]);
    } catch (const CommandError& error) {
      if (!may_find_nothing(updates[i], error)) throw refusal_of_batch(i, error);
      not_found.push_back({{"index", i}, {"message", error.what()}});
    }
  }
  nlohmann::json& answer = written->answered;
  answer = {{"applied", updates.size() - not_found.size()}};
  if (!not_found.empty()) answer["not_found"] = std::move(not_found);
  return written;
}

nlohmann::json ProgramControl::table_read(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  const EntriesAsked asked(args);
  if (schema.is_selector()) {
    return {{"table", schema.name},
            {"entries", profiles_.read(schema, asked)},
            {"default", nlohmann::json()}};
  }
  const Table& table = match_table(schema);
  const EntryCodec codec(schema, table);
  const auto entry_of = [&](std::optional<std::uint32_t> number) {
    if (!number) return nlohmann::json();
    nlohmann::json entry = *number == kNoEntry ? codec.default_entry() : codec.entry(*number);
    if (asked.with_handles() && !entry.is_null()) entry["handle"] = Table::handle_of(*number);
    return entry;
  };
  nlohmann::json entries = nlohmann::json::array();
  if (asked.by_key()) {
    for (const auto& key : *asked.by_key()) {
      const std::uint32_t number = table.find(codec.match(key));
      entries.push_back(entry_of(number == kNoEntry ? std::nullopt : std::optional(number)));
    }
  } else if (asked.by_handle()) {
    for (const std::uint32_t handle : *asked.by_handle())
      entries.push_back(entry_of(table.with_handle(handle)));
  } else {
    for (const std::uint32_t number : table.entries()) entries.push_back(entry_of(number));
  }
  return {{"table", schema.name}, {"entries", entries}, {"default", codec.default_entry()}};
}

nlohmann::json ProgramControl::table_info(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  nlohmann::json info = {{"table", schema.name}, {"type", schema.type}, {"size", schema.size}};
  if (const Table* table = table_of(schema)) info["entries"] = table->size();
  if (schema.is_selector()) info["entries"] = profiles_.groups(schema);
  for (const auto& document : document_.at("tables")) {
    if (document.at("name") == schema.name) info["schema"] = document;
  }
  return info;
}

Table& ProgramControl::aging_table(const TableSchema& schema) const {
  Table* table = table_of(schema);
  if (table != nullptr && table->ages()) return *table;
  throw bad_argument("entries of table " + schema.name +
                     " do not age; add `idle_timeout = true` to it in P4");
}

void ProgramControl::share_hits(const std::string& table, ControlPlane& other) {
  const auto mine = tables_.find(table);
  if (mine == tables_.end() || !mine->second->ages()) return;
  Table& here = *mine->second;
  Table& there = *static_cast<ProgramControl&>(other).tables_.at(table);
  for (const std::uint32_t number : here.entries()) {
    const std::uint32_t same = there.find(here.match(number));
    if (same != kNoEntry) Aging::share_hits(here.aging(number), there.aging(same));
  }
}

// Their hit states are from now on whether they have been hit since the last update.
nlohmann::json ProgramControl::aging_update(const nlohmann::json& args) {
  Table& table = aging_table(resolve(args));
  for (const std::uint32_t number : table.entries()) table.aging(number).update_active();
  return nlohmann::json::object();
}

// Entries whose time to live has run out since the last call, and those hit again after that.
nlohmann::json ProgramControl::aging_events(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  Table& table = aging_table(schema);
  const EntryCodec codec(schema, table);
  nlohmann::json events = nlohmann::json::array();
  for (const std::uint32_t number : table.entries()) {
    const Aging::Event event = table.aging(number).event(table.now_ns());
    if (event == Aging::Event::kNone) continue;
    nlohmann::json told = {{"key", codec.key(number)}};
    if (schema.has_priority) told["priority"] = table.match(number).priority;
    told["state"] = event == Aging::Event::kIdle ? "ENTRY_IDLE" : "ENTRY_ACTIVE";
    events.push_back(std::move(told));
  }
  return {{"table", schema.name}, {"events", events}};
}

// Entries that have not been hit for at least so long.
nlohmann::json ProgramControl::aging_read(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  Table& table = aging_table(schema);
  const auto least = static_cast<std::uint64_t>(
      parse_value(args.value("idle_ns", nlohmann::json(0)), 64, "aging_read, \"idle_ns\""));
  const EntryCodec codec(schema, table);
  nlohmann::json entries = nlohmann::json::array();
  for (const std::uint32_t number : table.entries()) {
    const std::uint64_t idle_ns = table.aging(number).idle_ns(table.now_ns());
    if (idle_ns < least) continue;
    nlohmann::json& entry =
        entries.emplace_back(nlohmann::json{{"key", codec.key(number)}, {"idle_ns", idle_ns}});
    if (schema.has_priority) entry["priority"] = table.match(number).priority;
  }
  return {{"table", schema.name}, {"now_ns", table.now_ns()}, {"entries", entries}};
}

nlohmann::json ProgramControl::schema(const nlohmann::json&) {
  return document_;
}

nlohmann::json ProgramControl::p4info(const nlohmann::json&) {
  return {{"p4info", p4info_}};
}

nlohmann::json ProgramControl::read_indexed(const TableSchema& schema, Counter& counter,
                                            const nlohmann::json& args) const {
  const auto [first, last] = counter_cells("counter " + schema.name, counter, args);
  nlohmann::json counters = nlohmann::json::array();
  for (std::uint32_t index = first; index < last; ++index) {
    const Counter::Cell& cell = counter.cell(index);
    nlohmann::json value = {{"index", index}};
    if (schema.counts_packets) value["$COUNTER_SPEC_PKTS"] = cell.packets;
    if (schema.counts_bytes) value["$COUNTER_SPEC_BYTES"] = cell.bytes;
    counters.push_back(value);
  }
  return counters;
}

nlohmann::json ProgramControl::counter_read(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  if (const auto counter = counters_.find(schema.name); counter != counters_.end()) {
    return {{"table", schema.name}, {"counters", read_indexed(schema, *counter->second, args)}};
  }
  const Table& table = match_table(schema);
  if (!table.has_counter()) {
    throw bad_argument("table " + schema.name +
                       " has no direct counter; add `counters = …` to it in P4");
  }
  const EntryCodec codec(schema, table);
  nlohmann::json counters = nlohmann::json::array();
  for (const std::uint32_t number : table.entries()) {
    nlohmann::json value = codec.counter(number);
    value["key"] = codec.key(number);
    counters.push_back(value);
  }
  return {{"table", schema.name}, {"counters", counters}, {"default", codec.counter(kNoEntry)}};
}

void ProgramControl::clear_counter(const TableSchema& schema) {
  if (const auto counter = counters_.find(schema.name); counter != counters_.end()) {
    for (std::uint32_t index = 0; index < counter->second->size(); ++index)
      counter->second->cell(index) = {};
  } else if (Table* table = table_of(schema)) {
    table->clear_counters();
  }
}

Counter& ProgramControl::counter_of(const TableSchema& schema) const {
  const auto found = counters_.find(schema.name);
  if (found == counters_.end()) {
    throw bad_argument("table " + schema.name + " is of type " + schema.type +
                       ", not a Counter; direct counters are among an entry's data");
  }
  return *found->second;
}

nlohmann::json ProgramControl::counter_write(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  write_counts("counter " + schema.name, counter_of(schema), args);
  return nlohmann::json::object();
}

// Without "table": every counter of the program.
nlohmann::json ProgramControl::counter_clear(const nlohmann::json& args) {
  if (args.contains("table")) {
    const TableSchema& schema = resolve(args);
    if (!schema.counts_packets && !schema.counts_bytes) {
      throw bad_argument("table " + schema.name + " has no counter to clear");
    }
    clear_counter(schema);
  } else {
    for (const TableSchema& schema : schemas_) clear_counter(schema);
  }
  return nlohmann::json::object();
}

RegisterArray& ProgramControl::register_of(const TableSchema& schema) const {
  const auto found = registers_.find(schema.name);
  if (found == registers_.end())
    throw bad_argument("table " + schema.name + " is of type " + schema.type + ", not a Register");
  return *found->second;
}

nlohmann::json ProgramControl::register_read(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  return RegisterCodec(schema, register_of(schema)).read(args);
}

nlohmann::json ProgramControl::register_write(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  return RegisterCodec(schema, register_of(schema)).write(args);
}

// Without "table": every register of the program, those of entries too.
nlohmann::json ProgramControl::register_clear(const nlohmann::json& args) {
  if (args.contains("table")) {
    const TableSchema& schema = resolve(args);
    return RegisterCodec(schema, register_of(schema)).clear(args);
  }
  for (const TableSchema& schema : schemas_) {
    if (schema.type != "Register") continue;
    RegisterArray& cells = register_of(schema);
    for (std::uint32_t index = 0; index < cells.size(); ++index) cells.reset(index);
  }
  for (const auto& [name, table] : tables_) table->clear_registers();
  return nlohmann::json::object();
}

Meter& ProgramControl::meter_of(const TableSchema& schema) const {
  const auto found = meters_.find(schema.name);
  if (found == meters_.end())
    throw bad_argument("table " + schema.name + " is of type " + schema.type + ", not a Meter");
  return *found->second;
}

nlohmann::json ProgramControl::meter_write(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  return MeterCodec(schema.name, meter_of(schema)).write(args);
}

nlohmann::json ProgramControl::meter_read(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  return MeterCodec(schema.name, meter_of(schema)).read(args);
}

// No meter of the program has limits any more, those of entries neither.
nlohmann::json ProgramControl::meter_clear(const nlohmann::json&) {
  for (const auto& [name, meter] : meters_) {
    for (std::uint32_t index = 0; index < meter->size(); ++index) meter->remove_limits(index);
  }
  for (const auto& [name, table] : tables_) table->clear_meters();
  return nlohmann::json::object();
}

// Of an indexed meter, or of the direct one of a table; with a value it is set.
nlohmann::json ProgramControl::meter_byte_count_adjust(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  const auto answer = [&](auto& meter) -> nlohmann::json {
    if (const auto given = args.find("byte_count_adjust"); given != args.end())
      meter.set_byte_count_adjust(parse_byte_count_adjust(*given, "meter " + schema.name));
    return {{"table", schema.name}, {"byte_count_adjust", meter.byte_count_adjust()}};
  };
  Table* const table = table_of(schema);
  return table != nullptr && table->meter_unit() ? answer(*table) : answer(meter_of(schema));
}

nlohmann::json ProgramControl::selector_member(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  if (schema.is_selector()) return profiles_.chosen_member(schema, args);
  throw bad_argument("table " + schema.name + " is of type " + schema.type + ", not a Selector");
}

FilterArray& ProgramControl::filter_of(const TableSchema& schema) const {
  const auto found = filters_.find(schema.name);
  if (found != filters_.end()) return *found->second;
  throw bad_argument("table " + schema.name + " is of type " + schema.type +
                     ", not an Lpf or Wred");
}

nlohmann::json ProgramControl::filter_write(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  return FilterCodec(schema.name, filter_of(schema)).write(args);
}

nlohmann::json ProgramControl::filter_read(const nlohmann::json& args) {
  const TableSchema& schema = resolve(args);
  return FilterCodec(schema.name, filter_of(schema)).read(args);
}

// A hash has the name of its tables without their last part.
HashCodec ProgramControl::hash_of(const nlohmann::json& args) const {
  const TableSchema& schema = resolve(args);
  const auto found = hashes_.find(schema.name.substr(0, schema.name.rfind('.')));
  if (schema.is_hash() && found != hashes_.end()) return {schema.name, schema.type, *found->second};
  throw bad_argument("table " + schema.name + " is of type " + schema.type +
                     ", not one of a Hash (NAME.configure, NAME.algorithm, NAME.compute)");
}

nlohmann::json ProgramControl::hash_write(const nlohmann::json& args) {
  hash_of(args).write(args);
  return nlohmann::json::object();
}

nlohmann::json ProgramControl::hash_read(const nlohmann::json& args) {
  return hash_of(args).read(args);
}

// Without "table": every hash of the program.
nlohmann::json ProgramControl::hash_reset(const nlohmann::json& args) {
  if (args.contains("table")) {
    hash_of(args).reset();
  } else {
    for (const auto& [name, hash] : hashes_) {
      hash->reset_slices();
      hash->reset_algorithm();
    }
  }
  return nlohmann::json::object();
}

// What hashes, filters and, beside limits, meters were told.
nlohmann::json ProgramControl::settings_reset(const nlohmann::json&) {
  hash_reset(nlohmann::json::object());
  for (const auto& [name, filter] : filters_) FilterCodec(name, *filter).write({{"data", nullptr}});
  for (const auto& [name, meter] : meters_) meter->reset_byte_count_adjust();
  for (const auto& [name, table] : tables_) {
    table->reset_filters();
    table->reset_byte_count_adjust();
  }
  return nlohmann::json::object();
}

// Takes the oldest digests out of the queue.
nlohmann::json ProgramControl::digest_read(const nlohmann::json& args) {
  const std::uint64_t most =
      args.contains("max")
          ? static_cast<std::uint64_t>(parse_value(args.at("max"), 32, "digest_read, max"))
          : kDigestQueueLength;
  nlohmann::json digests = nlohmann::json::array();
  while (digests.size() < most && digests_.front() != nullptr) {
    const Digest& digest = *digests_.front();
    const LearnFilter& filter = learn_filters_.at(digest.filter);
    digests.push_back({{"name", filter.name},
                       {"pipe", digest.pipe},
                       {"fields", filter.fields_of(digest.fields)}});
    digests_.pop();
  }
  return {{"digests", digests}, {"waiting", digests_.size()}, {"lost", digests_.lost()}};
}

void ProgramControl::add_random(Random& random) {
  randoms_.push_back(&random);
  random.seed(randoms_.size());
}

// Different instances get different numbers from one seed.
nlohmann::json ProgramControl::random_seed(const nlohmann::json& args) {
  if (!args.contains("seed")) throw bad_argument("random_seed: \"seed\" is missing; a number");
  auto seed = static_cast<std::uint64_t>(parse_value(args.at("seed"), 64, "random_seed, seed"));
  for (Random* random : randoms_) random->seed(seed++ * 0x9E3779B97F4A7C15);
  return nlohmann::json::object();
}

}  // namespace turntable::dataplane
