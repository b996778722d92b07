#include "bfrt_server/match_table.h"

#include <algorithm>

#include "bfrt_server/operation.h"
#include "bfrt_server/write_batch.h"
#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using bfrt_proto::Update;

constexpr const char* kPriority = "$MATCH_PRIORITY";
// What an SDE reads of a default entry that names no member, since it is the program's.
constexpr std::uint32_t kNoMember = 0;
// Entries of different scopes have different handles: the highest bits are the scope's lowest pipe,
// the others as softswitch numbers the entries of a pipe.
constexpr std::uint32_t kPipeShift = 28;
constexpr std::uint32_t kHandleInPipe = (1U << kPipeShift) - 1;
constexpr std::uint32_t kDefaultHandle = 1;
constexpr std::string_view kCounterFields = "$COUNTER_SPEC_";

// An entry's place among counters_, where those of the same pipes begin alike.
std::string identity(const Json& entry, const Pipes& pipes) {
  std::string begin = pipes.empty() ? "" : Json(pipes).dump();
  const auto key = entry.find("key");
  if (key == entry.end()) return begin;
  return begin + key->dump() + std::to_string(entry.value("priority", 0U));
}

// Of the metadata of ports: the driver of a Tofino has them by port, whenever each was written.
void sort_by_port(Json& entries) {
  const auto port = [](const Json& entry) { return entry.at("key").front().get<std::uint64_t>(); };
  std::ranges::sort(entries.get_ref<Json::array_t&>(), {}, port);
}

// What a write says of an entry's counters.
Json written_counters(const Json& written) {
  Json counters = Json::object();
  const auto data = written.find("data");
  if (data == written.end()) return counters;
  for (const auto& [name, value] : data->items()) {
    if (name.starts_with(kCounterFields)) counters[name] = value;
  }
  return counters;
}

// Then an answer's entry says which pipes it is of. pipes: of the scope that it was found in.
bool asks_all_scopes(const EntryRead& read, const Pipes& pipes) {
  return read.target.pipe_id() == kAllPipes && !pipes.empty();
}

}  // namespace

void MatchTable::write(const EntryWrite& update, WriteBatch& batch) {
  switch (update.type) {
    case Update::INSERT:
    case Update::MODIFY:
    case Update::INSERT_OR_MODIFY:
    case Update::DELETE:
      if (update.entry.is_default_entry()) return write_default(update, batch);
      return write_entry(update, batch);
    case Update::RESET:
      return write_default(update, batch);
    case Update::MODIFY_INC:
      throw cannot("an entry of a match-action table has nothing that MODIFY_INC could add to;");
    default:
      throw invalid("Unspecified update type; table:" + table().name);
  }
}

void MatchTable::write_default(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type, true);
  if (!has_default_entry()) throw cannot("this table has no default entry that could be changed;");
  if (update.type == Update::INSERT || update.type == Update::INSERT_OR_MODIFY) {
    throw not_supported(
        "INSERT of default entry is not supported. Please use MODIFY instead table:" +
        table().name);
  }
  if (!update.entry.key().fields().empty())
    throw invalid("Non-empty key for default entry table:" + table().name);
  Json written = {{"table", table().name}, {"op", "reset_default"}};
  put_pipes(scope_.of_written_entry(update.target, what), written);
  if (update.type == Update::MODIFY) {
    written["op"] = "set_default";
    put_action_and_data(update, written, what);
    if (has_actions() && !written.contains("action"))
      throw invalid(what + ": an action is missing;");
  } else if (table().has_const_default_action) {
    return;  // it is what it was
  }
  batch.add(WriteBatch::Entry{std::move(written), false}, what);
}

// Counters of an entry begin anew.
bool MatchTable::counts_anew(Update::Type type) const {
  return (type == Update::INSERT || type == Update::DELETE) && !table().operations.empty();
}

// Members, groups and who names them are written one by one: softswitch looks whether what each
// names is there, or who names it.
bool MatchTable::may_be_columns() const {
  return !is_indirect() && table().type != "Action" && table().type != "Selector";
}

// False: it is no row, or a wrong one, and write_entry() says why.
bool MatchTable::write_row(const EntryWrite& update, WriteBatch& batch) {
  if (!may_be_columns()) return false;
  EntryRows::Row row;
  auto kind = EntryRows::parse(update.type, update.entry, table(), row);
  if (!kind) return false;
  kind->pipes = scope_.of_written_entry(update.target, context(update.type));
  if (batch.add_row(*kind, row)) return true;
  WriteBatch::RowDone done;
  if (counts_anew(update.type)) {
    done = [this](const EntryRows& rows, std::size_t number) {
      const std::lock_guard lock(mutex_);
      if (!counters_.empty()) counters_.erase(identity(rows.as_update(number), rows.kind().pipes));
    };
  }
  batch.add(WriteBatch::Rows{EntryRows(*kind), std::move(done)}, context(update.type));
  batch.add_row(*kind, row);
  return true;
}

void MatchTable::write_entry(const EntryWrite& update, WriteBatch& batch) {
  if (write_row(update, batch)) return;
  const std::string what = context(update.type);
  if (update.entry.value_case() == bfrt_proto::TableEntry::kHandleId)
    throw cannot("an entry is written by its key; its handle is for reading it;");
  Json written;
  const bool is_clear = update.type == Update::DELETE && !update.entry.has_key();
  Pipes pipes;
  // All entries may be deleted in all pipes whatever their scopes are.
  if (!is_clear || update.target.pipe_id() != kAllPipes)
    pipes = scope_.of_written_entry(update.target, what);
  if (is_clear) {
    written = {{"op", "clear"}};
  } else {
    if (!update.entry.has_key()) throw invalid("Table key cannot be empty table:" + table().name);
    written = selector(update.entry.key(), what);
    written["op"] = operation_of(update.type);
  }
  written["table"] = table().name;
  put_pipes(pipes, written);
  if (update.type != Update::DELETE) put_action_and_data(update, written, what);
  Json set = written_counters(written);
  std::function<void()> done;
  if (counts_anew(update.type) || !set.empty()) {
    done = [this, anew = counts_anew(update.type), set = std::move(set), is_clear,
            id = identity(written, pipes)] {
      const std::lock_guard lock(mutex_);
      if (anew && is_clear) {
        std::erase_if(counters_, [&](const auto& each) { return each.first.starts_with(id); });
      } else if (anew) {
        counters_.erase(id);
      }
      for (const auto& [name, value] : set.items()) counters_[id][name] = value;
    };
  }
  batch.add(WriteBatch::Entry{std::move(written), false}, what, std::move(done));
  if (is_clear && !table().has_const_default_action && has_default_entry()) {
    Json reset = {{"table", table().name}, {"op", "reset_default"}};
    put_pipes(pipes, reset);
    batch.add(WriteBatch::Entry{std::move(reset), false}, what);
  }
}

// {"key", ["priority"]}
Json MatchTable::selector(const bfrt_proto::TableKey& key, const std::string& context) const {
  Json selected = {{"key", key_of(key, context)}};
  Json& fields = selected["key"];
  if (const auto priority = fields.find(kPriority); priority != fields.end()) {
    selected["priority"] = *priority;
    fields.erase(priority);
  }
  return selected;
}

void MatchTable::put_action_and_data(const EntryWrite& update, Json& written,
                                     const std::string& context) const {
  const bfrt_proto::TableData& data = update.entry.data();
  const bool is_modify = update.type == Update::MODIFY && !update.entry.is_default_entry();
  // An SDE writes an action's data anew, and zero for what an update leaves out.
  const auto put_zeros = [](const std::vector<bfrt::Field>& fields, Json& values) {
    for (const bfrt::Field& field : fields) {
      if (!values.contains(field.name)) values[field.name] = 0;
    }
  };
  if (!has_actions()) {
    const bool is_port = table().type == "PortMetadata";
    Json& values = written["data"] = data_of(data, context, /*complete=*/!is_modify && !is_port);
    if (is_port) put_zeros(table().data, values);
    // An SDE has no groups without an active member that entries name.
    if (is_indirect() || table().type == "Selector") written["active_group"] = true;
    return;
  }
  const bfrt::Action* action = action_of(data, context);
  Json values = data_of(data, context, /*complete=*/false);
  if (action != nullptr) {
    written["action"] = action->name;
    put_zeros(action->data, values);
  } else if (update.type != Update::MODIFY || values.empty()) {
    throw invalid(context + ": the action is missing;");
  }
  if (update.entry.table_flags().reset_stats() && update.type == Update::MODIFY) {
    for (const bfrt::Field& field : table().data) {
      if (field.name.starts_with(kCounterFields) && !values.contains(field.name))
        values[field.name] = 0;
    }
  }
  written["data"] = std::move(values);
}

// Without a key, a read is of all entries and the default one, or of the latter alone.
void MatchTable::read(const std::vector<EntryRead>& reads, SwitchLink& link, ReadAnswers& answers) {
  std::map<std::pair<bool, Pipes>, std::vector<std::size_t>> named;
  for (std::size_t number = 0; number < reads.size(); ++number) {
    const EntryRead& read = reads[number];
    if (!read.by_handle() && !read.entry.has_key()) {
      read_all(number, read, link, answers);
      continue;
    }
    try {
      const auto pipes = pipes_of_named(read);
      if (!pipes) throw not_found(reading());
      named[{read.by_handle(), *pipes}].push_back(number);
    } catch (const Failure& failure) {
      answers.fail(number, failure);
    }
  }
  for (const auto& [kind, numbers] : named) read_named(reads, numbers, kind.second, link, answers);
}

std::optional<Pipes> MatchTable::pipes_of_named(const EntryRead& read) const {
  const std::uint32_t handle = read.entry.handle_id();
  if (read.by_handle() && handle != kDefaultHandle && scope_.shown().have_states &&
      !scope_.is_all()) {
    return scope_.of_read_handle(read.target, read.from_hw(), handle >> kPipeShift);
  }
  return scope_.of_read_entry(read.target, read.from_hw());
}

void MatchTable::read_named(const std::vector<EntryRead>& reads,
                            const std::vector<std::size_t>& named, const Pipes& pipes,
                            SwitchLink& link, ReadAnswers& answers) {
  Json wanted = Json::array();
  std::vector<std::size_t> numbers;
  for (const std::size_t number : named) {
    const EntryRead& read = reads[number];
    try {
      wanted.push_back(read.by_handle() ? Json(read.entry.handle_id() & kHandleInPipe)
                                        : selector(read.entry.key(), reading()));
      numbers.push_back(number);
    } catch (const Failure& failure) {
      answers.fail(number, failure);
    }
  }
  if (numbers.empty()) return;
  const char* const names = reads[numbers.front()].by_handle() ? "handles" : "entries";
  Json result;
  try {
    Json args = {{"table", table().name}, {names, wanted}};
    put_pipes(pipes, args);
    result = link.call("table_read", std::move(args));
  } catch (const CommandError& error) {
    // One key that softswitch refuses refuses them all: then one by one.
    if (numbers.size() > 1 && error.code() == "bad_argument") {
      for (const std::size_t number : numbers) read_named(reads, {number}, pipes, link, answers);
      return;
    }
    const Failure failure = from_switch(reading(), error);
    for (const std::size_t number : numbers) answers.fail(number, failure);
    return;
  }
  for (std::size_t place = 0; place < numbers.size(); ++place) {
    const std::size_t number = numbers[place];
    const Json& found = result.at("entries").at(place);
    if (found.is_null()) {
      answers.fail(number, not_found(reading()));
    } else if (asks_for_other_action(reads[number].entry, found)) {
      answers.fail(number,
                   invalid(reading() + ": the entry has the action " +
                           found.at("action").get<std::string>() + ", not the one asked for;"));
    } else {
      bfrt_proto::TableEntry& entry = answers.add(number, reads[number]);
      if (entry.has_entry_tgt() && asks_all_scopes(reads[number], pipes))
        entry.mutable_entry_tgt()->set_pipe_id(pipes.front());
      put_entry(found, reads[number], pipes, entry);
    }
  }
}

std::uint32_t MatchTable::handle_of(const bfrt_proto::TableKey& key,
                                    const bfrt_proto::TargetDevice& target, SwitchLink& link) {
  const auto pipes = scope_.of_read_entry(target, /*from_hw=*/false);
  if (!pipes) throw not_found(reading());
  try {
    Json args = {
        {"table", table().name}, {"entries", {selector(key, reading())}}, {"with_handles", true}};
    put_pipes(*pipes, args);
    const Json result = link.call("table_read", args);
    const Json& found = result.at("entries").front();
    if (found.is_null()) throw not_found(reading());
    const auto in_pipe = found.at("handle").get<std::uint32_t>();
    return pipes->empty() ? in_pipe : in_pipe | pipes->front() << kPipeShift;
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

// The fields of an action that the entry does not have cannot be read. As on an SDE, entries of
// action profiles are not looked at.
bool MatchTable::asks_for_other_action(const bfrt_proto::TableEntry& entry,
                                       const Json& found) const {
  const std::uint32_t wanted = entry.data().action_id();
  if (wanted == 0 || is_indirect() || !found.contains("action")) return false;
  return table().action(found.at("action").get<std::string>())->id != wanted;
}

void MatchTable::read_all(std::size_t number, const EntryRead& read, SwitchLink& link,
                          ReadAnswers& answers) {
  try {
    for (const Pipes& pipes : pipes_of_all(read)) read_entries(number, read, pipes, link, answers);
  } catch (const Failure& failure) {
    answers.fail(number, failure);
  } catch (const CommandError& error) {
    answers.fail(number, from_switch(reading(), error));
  }
}

// Pipe 0xffff asks for the entries of all scopes, but a default entry is that of one.
std::vector<Pipes> MatchTable::pipes_of_all(const EntryRead& read) const {
  const bool is_default = read.entry.is_default_entry();
  if (read.target.pipe_id() == kAllPipes && !is_default && !scope_.is_all()) return scope_.scopes();
  return {scope_.of_read_default(read.target, reading())};
}

void MatchTable::read_entries(std::size_t number, const EntryRead& read, const Pipes& pipes,
                              SwitchLink& link, ReadAnswers& answers) {
  Json args = {{"table", table().name}};
  if (read.entry.is_default_entry()) args["entries"] = Json::array();
  put_pipes(pipes, args);
  Json result = link.call("table_read", std::move(args));
  Json& entries = result.at("entries");
  const auto add = [&]() -> bfrt_proto::TableEntry& {
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    if (asks_all_scopes(read, pipes)) {
      *entry.mutable_entry_tgt() = read.target;
      entry.mutable_entry_tgt()->set_pipe_id(pipes.front());
    }
    return entry;
  };
  if (table().type == "PortMetadata") sort_by_port(entries);
  for (const Json& found : entries) {
    if (!asks_for_other_action(read.entry, found)) put_entry(found, read, pipes, add());
  }
  if (has_default() && !asks_for_other_action(read.entry, result.at("default")))
    put_default(result.at("default"), read, pipes, add());
  if (read.entry.is_default_entry() && is_indirect()) {
    const Json of_program = {{"data", {{"$ACTION_MEMBER_ID", kNoMember}}}};
    const Json& found = result.at("default");
    put_default(found.is_null() ? of_program : found, read, pipes, add());
  }
}

// Nothing: it names a member or group, or its table has no actions.
const bfrt::Action* MatchTable::action_in(const Json& found) const {
  const auto action = found.find("action");
  return action == found.end() ? nullptr : table().action(action->get<std::string>());
}

void MatchTable::put_entry(const Json& found, const EntryRead& read, const Pipes& pipes,
                           bfrt_proto::TableEntry& entry) {
  if (!found.contains("key")) return put_default(found, read, pipes, entry);
  Json key = found.at("key");
  if (found.contains("priority")) key[kPriority] = found.at("priority");
  put_key(key, entry);
  if (read.key_only()) return;
  put_data(seen_data(found, pipes, read.from_hw()), action_in(found), read.entry.data(), entry,
           shown_pipes(read, pipes), found.value("data_of_pipes", Json::array()));
}

void MatchTable::put_default(const Json& found, const EntryRead& read, const Pipes& pipes,
                             bfrt_proto::TableEntry& entry) {
  // As on an SDE, whose client looks past default entries that it did not ask for.
  entry.set_is_default_entry(!read.by_handle() || read.entry.is_default_entry());
  put_data(seen_data(found, pipes, read.from_hw()), action_in(found), read.entry.data(), entry,
           shown_pipes(read, pipes), found.value("data_of_pipes", Json::array()));
}

// So many values has a field of a direct register.
std::uint32_t MatchTable::shown_pipes(const EntryRead& read, const Pipes& pipes) const {
  if (!pipes.empty()) return static_cast<std::uint32_t>(pipes.size());
  return read.target.pipe_id() == kAllPipes ? scope_.shown().count : 1;
}

// An entry's data with the counters that this read sees.
Json MatchTable::seen_data(const Json& found, const Pipes& pipes, bool from_hw) {
  Json data = found.at("data");
  if (table().operations.empty()) return data;
  const std::string id = identity(found, pipes);
  const std::lock_guard lock(mutex_);
  for (auto& [name, value] : data.items()) {
    if (!name.starts_with(kCounterFields)) continue;
    Json& copy = counters_[id][name];
    if (from_hw) copy = value;
    value = copy.is_null() ? Json(0) : copy;
  }
  return data;
}

std::uint32_t MatchTable::usage(const bfrt_proto::TargetDevice& target, SwitchLink& link) {
  std::uint32_t entries = 0;
  for (const Pipes& pipes : scope_.of_usage(target, "table:" + table().name)) {
    Json args = {{"table", table().name}};
    put_pipes(pipes, args);
    entries += link.call("table_info", std::move(args)).at("entries").get<std::uint32_t>();
  }
  return entries;
}

void MatchTable::operate(const std::string& operation, SwitchLink& link) {
  const auto& known = table().operations;
  if (std::find(known.begin(), known.end(), operation) == known.end())
    return TableAccess::operate(operation, link);
  if (operation == "UpdateHitState") {
    link.call("aging_update", {{"table", table().name}});
    return;
  }
  if (operation != "SyncCounters") return;  // nothing else has a copy here
  const bool is_all = scope_.is_all();
  for (const Pipes& scope : scope_.scopes()) {
    const Pipes pipes = is_all ? Pipes{} : scope;
    Json args = {{"table", table().name}};
    put_pipes(pipes, args);
    const Json result = link.call("table_read", std::move(args));
    for (const Json& found : result.at("entries")) seen_data(found, pipes, true);
    if (!result.at("default").is_null()) seen_data(result.at("default"), pipes, true);
  }
}

}  // namespace turntable::bfrt_server
