#include "bfrt_server/indexed_tables.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bfrt/byte_string.h"
#include "bfrt/values.h"
#include "bfrt_server/write_batch.h"
#include "common/command_error.h"
#include "common/packed_numbers.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using bfrt_proto::Update;

// Cells between two that are asked for are read along rather than with a command of their own.
constexpr std::uint32_t kGap = 256;

bool sets_values(Update::Type type) {
  return type == Update::INSERT || type == Update::MODIFY || type == Update::INSERT_OR_MODIFY;
}

}  // namespace

std::uint32_t IndexedTable::usage(const bfrt_proto::TargetDevice&, SwitchLink&) {
  return table().size;
}

std::uint32_t IndexedTable::index_of(const bfrt_proto::TableKey& key,
                                     const std::string& context) const {
  const bfrt::Field& described = table().keys.front();
  if (key.fields_size() == 1 && key.fields(0).field_id() == described.id) {
    const auto number = bfrt::from_byte_string(key.fields(0).exact().value(), described.width);
    if (number && *number < table().size) return static_cast<std::uint32_t>(*number);
  }
  // Something is wrong with it.
  const Json fields = key_of(key, context);
  if (fields.empty()) throw invalid(context + ": the index is missing;");
  const auto index = fields.begin()->get<std::uint32_t>();
  check_index(index, context);
  return index;
}

void IndexedTable::check_index(std::uint32_t index, const std::string& context) const {
  if (index < table().size) return;
  throw invalid(context + ": index " + std::to_string(index) + " is not below the size " +
                std::to_string(table().size) + ";");
}

std::uint32_t IndexedTable::handle_of(const bfrt_proto::TableKey& key,
                                      const bfrt_proto::TargetDevice&, SwitchLink&) {
  return index_of(key, reading());
}

void IndexedTable::put_index(std::uint32_t index, bfrt_proto::TableEntry& entry) const {
  const bfrt::Field& described = table().keys.front();
  auto& field = *entry.mutable_key()->add_fields();
  field.set_field_id(described.id);
  field.mutable_exact()->set_value(bfrt::to_byte_string(index, described.width));
}

std::pair<std::uint32_t, std::uint32_t> IndexedTable::range_of(const EntryRead& read) const {
  if (read.by_handle()) {
    check_index(read.entry.handle_id(), reading());
    return {read.entry.handle_id(), 1};
  }
  if (!read.entry.has_key()) return {0, table().size};
  return {index_of(read.entry.key(), reading()), 1};
}

RegisterTable::RegisterTable(const bfrt::Table& table, PipesShown shown, SwitchLink& link)
    : IndexedTable(table, shown, link),
      copies_(shown.have_states ? shown.count : 1,
              std::vector<std::uint64_t>(std::size_t{table.size} * table.data.size())) {
  load(0, table.size, link);
}

// In all pipes.
void RegisterTable::load(std::uint32_t first, std::uint32_t count, SwitchLink& link) {
  if (count == 0) return;
  Json result =
      link.call("register_read",
                {{"table", table().name}, {"first", first}, {"count", count}, {"packed", true}});
  if (!scope_.shown().have_states) result = {{"pipes", {{{"values", result.at("values")}}}}};
  const auto place = static_cast<std::ptrdiff_t>(first * table().data.size());
  const std::lock_guard lock(mutex_);
  for (std::size_t state = 0; state < copies_.size(); ++state) {
    const auto numbers = unpack_numbers(result.at("pipes").at(state).at("values"), table().name);
    std::copy(numbers.begin(), numbers.end(), copies_[state].begin() + place);
  }
}

Pipes RegisterTable::written_pipes(const bfrt_proto::TargetDevice& target,
                                   const std::string& context) const {
  Pipes pipes = scope_.of_cell(target, context);
  const PipesShown& shown = scope_.shown();
  if (!shown.have_states && shown.count > 1 && target.pipe_id() != kAllPipes) {
    throw cannot(
        "softswitch has one state for all pipes, so a register cannot be written in one of them; "
        "use pipe 0xffff, or start softswitch with --pipes;");
  }
  return pipes;
}

std::vector<std::size_t> RegisterTable::states_of(const bfrt_proto::TargetDevice& target) const {
  const Pipes pipes = scope_.of_cell(target, reading());
  if (!pipes.empty()) return {pipes.begin(), pipes.end()};
  const PipesShown& shown = scope_.shown();
  std::vector<std::size_t> states(target.pipe_id() == kAllPipes ? shown.count : 1);
  if (shown.have_states) std::iota(states.begin(), states.end(), std::size_t{0});
  return states;
}

void RegisterTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type);
  const Pipes pipes = written_pipes(update.target, what);
  if (update.type == Update::DELETE) {
    if (update.entry.has_key())
      throw cannot("a cell cannot be deleted; write it, or delete all without a key;");
    Json args = {{"table", table().name}};
    put_pipes(pipes, args);
    const auto reset = [this, args, &link = batch.link()] {
      link.call("register_clear", args);
      load(0, table().size, link);
    };
    return batch.add(WriteBatch::Act{reset}, what);
  }
  if (!sets_values(update.type)) throw cannot("no such update;");
  if (update.entry.is_default_entry()) throw cannot("registers have no default entry;");
  if (!update.entry.has_key()) throw invalid("Table key cannot be empty table:" + table().name);
  const std::uint32_t index = index_of(update.entry.key(), what);
  const Json given = data_of(update.entry.data(), what, /*complete=*/true);
  if (given.empty()) throw invalid(what + ": the value is missing;");
  std::vector<std::uint64_t> values;
  for (const bfrt::Field& field : table().data)
    values.push_back(given.value(field.name, std::uint64_t{0}));
  batch.add(WriteBatch::Cell{&table(), index, values, pipes}, what, [this, index, values, pipes] {
    const std::lock_guard lock(mutex_);
    for (std::size_t state = 0; state < copies_.size(); ++state) {
      if (!pipes.empty() && !std::ranges::binary_search(pipes, state)) continue;
      std::copy(values.begin(), values.end(),
                copies_[state].begin() + static_cast<std::ptrdiff_t>(index * values.size()));
    }
  });
}

void RegisterTable::read(const std::vector<EntryRead>& reads, SwitchLink& link,
                         ReadAnswers& answers) {
  try {
    load_for(reads, link);
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
  for (std::size_t number = 0; number < reads.size(); ++number) {
    try {
      answer(number, reads[number], answers);
    } catch (const Failure& failure) {
      answers.fail(number, failure);
    }
  }
}

// Brings the cells into the copy that are to be read from the device.
void RegisterTable::load_for(const std::vector<EntryRead>& reads, SwitchLink& link) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  for (const EntryRead& read : reads) {
    if (!read.from_hw() || read.key_only()) continue;
    try {
      ranges.push_back(range_of(read));
    } catch (const Failure&) {  // answer() says it again
    }
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 0; i < ranges.size();) {
    const std::uint32_t first = ranges[i].first;
    std::uint32_t end = first;
    for (; i < ranges.size() && ranges[i].first <= end + kGap; ++i)
      end = std::max(end, ranges[i].first + ranges[i].second);
    load(first, end - first, link);
  }
}

void RegisterTable::answer(std::size_t number, const EntryRead& read, ReadAnswers& answers) {
  const auto [first, count] = range_of(read);
  const auto& fields = table().data;
  const std::vector<std::size_t> states = states_of(read.target);
  const auto& wanted = read.entry.data().fields();
  const std::lock_guard lock(mutex_);
  for (std::uint32_t index = first; index < first + count; ++index) {
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    put_index(index, entry);
    if (read.key_only()) continue;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const bool asked = wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](auto& w) {
                           return w.field_id() == fields[i].id;
                         });
      if (!asked) continue;
      for (const std::size_t state : states) {
        auto* field = entry.mutable_data()->add_fields();
        field->set_field_id(fields[i].id);
        field->set_stream(
            bfrt::to_byte_string(copies_[state][index * fields.size() + i], fields[i].width));
      }
    }
  }
}

void RegisterTable::operate(const std::string& operation, SwitchLink& link) {
  if (operation != "Sync" && operation != "SyncRegisters")
    return TableAccess::operate(operation, link);
  load(0, table().size, link);
}

void RegisterParamTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type, update.entry.is_default_entry());
  if (!update.entry.is_default_entry())
    throw cannot("a RegisterParam has no entry but the default one;");
  auto& link = batch.link();
  Json args = {{"table", table().name}};
  put_pipes(scope_.of_cell(update.target, what), args);
  if (update.type == Update::DELETE || update.type == Update::RESET) {
    const auto reset = [args, &link] { link.call("register_clear", args); };
    return batch.add(WriteBatch::Act{reset}, what);
  }
  if (update.type != Update::MODIFY)
    throw not_supported("the default entry can only be modified or reset table:" + table().name);
  const Json values = data_of(update.entry.data(), what, /*complete=*/true);
  args["values"] = {*values.begin()};
  const auto set = [args, &link] { link.call("register_write", args); };
  batch.add(WriteBatch::Act{set}, what);
}

void RegisterParamTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                                  ReadAnswers& answers) {
  try {
    // Where no pipe is asked for, the first tells: a parameter is usually that of all.
    Pipes pipes = scope_.of_cell(read.target, reading());
    if (pipes.empty()) pipes = {0};
    const Json result =
        link.call("register_read", {{"table", table().name}, {"pipes", {pipes.front()}}});
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    entry.set_is_default_entry(true);
    put_data({{table().data.front().name, result.at("values").at(0)}}, nullptr, read.entry.data(),
             entry);
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

CounterTable::CounterTable(const bfrt::Table& table, PipesShown shown, SwitchLink& link)
    : IndexedTable(table, shown, link) {}

void CounterTable::load(std::optional<std::uint32_t> index, const Pipes& pipes, SwitchLink& link) {
  Json args = {{"table", table().name}};
  if (index) args["index"] = *index;
  put_pipes(pipes, args);
  const Json result = link.call("counter_read", args);
  const std::lock_guard lock(mutex_);
  Copy& copy = copies_[pipes];
  copy.resize(table().size);
  for (Json counter : result.at("counters")) {
    const auto place = counter.at("index").get<std::size_t>();
    counter.erase("index");
    copy.at(place) = std::move(counter);
  }
}

void CounterTable::load_all(SwitchLink& link) {
  for (const Pipes& scope : scope_.scopes())
    load(std::nullopt, scope_.is_all() ? Pipes{} : scope, link);
}

void CounterTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type);
  auto& link = batch.link();
  if (update.type == Update::DELETE && !update.entry.has_key()) {
    Json args = {{"table", table().name}};
    // All counters may be deleted in all pipes whatever their scopes are.
    if (update.target.pipe_id() != kAllPipes)
      put_pipes(scope_.of_written_entry(update.target, what), args);
    const auto clear = [this, args, &link] {
      link.call("counter_clear", args);
      load_all(link);
    };
    return batch.add(WriteBatch::Act{clear}, what);
  }
  if (!sets_values(update.type)) throw cannot("a counter can only be written, or all be deleted;");
  if (!update.entry.has_key()) throw invalid("Table key cannot be empty table:" + table().name);
  const Pipes pipes = scope_.of_written_entry(update.target, what);
  const std::uint32_t index = index_of(update.entry.key(), what);
  Json args = {{"table", table().name},
               {"index", index},
               {"data", data_of(update.entry.data(), what, /*complete=*/true)}};
  put_pipes(pipes, args);
  const auto set = [this, index, pipes, args, &link] {
    link.call("counter_write", args);
    load(index, pipes, link);
  };
  batch.add(WriteBatch::Act{set}, what);
}

void CounterTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                            ReadAnswers& answers) {
  const auto [first, count] = range_of(read);
  const auto pipes = scope_.of_read_entry(read.target, read.from_hw());
  if (!pipes) throw not_found(reading());
  try {
    if (read.from_hw() && !read.key_only())
      load(count == 1 ? std::optional(first) : std::nullopt, *pipes, link);
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
  Json zero = Json::object();
  for (const bfrt::Field& field : table().data) zero[field.name] = 0U;
  const std::lock_guard lock(mutex_);
  Copy& copy = copies_[*pipes];
  copy.resize(table().size);
  for (std::uint32_t index = first; index < first + count; ++index) {
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    put_index(index, entry);
    const Json& data = copy[index].is_null() ? zero : copy[index];
    if (!read.key_only()) put_data(data, nullptr, read.entry.data(), entry);
  }
}

void CounterTable::operate(const std::string& operation, SwitchLink& link) {
  if (operation != "Sync" && operation != "SyncCounters")
    return TableAccess::operate(operation, link);
  load_all(link);
}

// Deleted, a cell is what it was at first.
void FilterTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type);
  if (!sets_values(update.type) && update.type != Update::DELETE) throw cannot("no such update;");
  Json args = {{"table", table().name}, {"data", nullptr}};
  if (update.entry.has_key()) {
    args["index"] = index_of(update.entry.key(), what);
  } else if (update.type != Update::DELETE) {
    throw invalid("Table key cannot be empty table:" + table().name);
  }
  if (update.type != Update::DELETE)
    args["data"] = data_of(update.entry.data(), what, update.type == Update::INSERT);
  put_pipes(scope_.of_written_entry(update.target, what), args);
  const auto set = [args, &link = batch.link()] { link.call("filter_write", args); };
  batch.add(WriteBatch::Act{set}, what);
}

void FilterTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                           ReadAnswers& answers) {
  const bool is_one = read.entry.has_key() || read.by_handle();
  const auto [first, count] = range_of(read);
  const auto pipes = scope_.of_read_entry(read.target, /*from_hw=*/true);
  if (!pipes) throw not_found(reading());
  Json args = {{"table", table().name}};
  if (is_one) args["index"] = first;
  put_pipes(*pipes, args);
  try {
    const Json result = link.call("filter_read", args);
    for (const Json& filter : result.at("filters")) {
      bfrt_proto::TableEntry& entry = answers.add(number, read);
      put_index(filter.at("index"), entry);
      if (!read.key_only()) put_data(filter.at("data"), nullptr, read.entry.data(), entry);
    }
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

void MeterTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type);
  auto& link = batch.link();
  if (!sets_values(update.type) && update.type != Update::DELETE) throw cannot("no such update;");
  std::uint32_t first = 0;
  std::uint32_t count = table().size;
  if (update.entry.has_key()) {
    first = index_of(update.entry.key(), what);
    count = 1;
  } else if (update.type != Update::DELETE) {
    throw invalid("Table key cannot be empty table:" + table().name);
  }
  Json values;  // null: no limits
  if (update.type != Update::DELETE) {
    values = data_of(update.entry.data(), what, /*complete=*/true);
    for (const bfrt::Field& field : table().data) {
      if (!values.contains(field.name)) throw invalid(what + ": " + field.name + " is missing;");
    }
    if (values.at(table().data.front().name) == kUnlimited) values = nullptr;
  }
  Json args = {{"table", table().name}, {"data", values}};
  put_pipes(scope_.of_written_entry(update.target, what), args);
  const auto set = [first, count, args, &link]() mutable {
    for (std::uint32_t index = first; index < first + count; ++index) {
      args["index"] = index;
      link.call("meter_write", args);
    }
  };
  batch.add(WriteBatch::Act{set}, what);
}

void MeterTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                          ReadAnswers& answers) {
  const auto [first, count] = range_of(read);
  const auto pipes = scope_.of_read_entry(read.target, /*from_hw=*/true);
  if (!pipes) throw not_found(reading());
  Json args = {{"table", table().name}};
  put_pipes(*pipes, args);
  for (std::uint32_t index = first; index < first + count; ++index) {
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    put_index(index, entry);
    if (read.key_only()) continue;
    try {
      args["index"] = index;
      Json data = link.call("meter_read", args).at("data");
      if (data.is_null()) {
        data = Json::object();
        for (const bfrt::Field& field : table().data) data[field.name] = kUnlimited;
      }
      put_data(data, nullptr, read.entry.data(), entry);
    } catch (const CommandError& error) {
      throw from_switch(reading(), error);
    }
  }
}

}  // namespace turntable::bfrt_server
