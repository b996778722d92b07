#include "dataplane/table_batch.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/command_error.h"
#include "dataplane/entry_codec.h"
#include "dataplane/entry_columns.h"
#include "dataplane/operation.h"

namespace turntable::dataplane {
namespace {

bool is_of_columns(const std::string& operation) {
  return operation == "insert_columns" || operation == "modify_columns" ||
         operation == "upsert_columns" || operation == "delete_columns";
}

void check_room(const TableSchema& schema, const Table& table) {
  if (table.size() < table.capacity()) return;
  throw CommandError("full", "table " + schema.name + " is full at " +
                                 std::to_string(table.capacity()) +
                                 " entries; delete some, or enlarge `size` in the P4 program");
}

void check_may_change(const TableSchema& schema, std::uint32_t entry) {
  if (entry != kNoEntry || !schema.has_const_default_action) return;
  throw bad_argument("table " + schema.name + " has a const default_action; it cannot be changed");
}

CommandError exists(const TableSchema& schema, const std::string& entry) {
  return {"exists", "table " + schema.name + ": entry " + entry +
                        " exists already; use \"modify\" or \"upsert\""};
}

CommandError not_there(const TableSchema& schema, const std::string& entry) {
  return {"not_found",
          "table " + schema.name + ": entry " + entry +
              " does not exist; use \"insert\" or \"upsert\", or read the entries with "
              "table_read"};
}

// Direct externs of an entry, and its age, run on when it gets other words.
Table::Words with_direct_of(std::uint32_t entry, const Table& table, Table::Words words) {
  const auto before = table.words(entry);
  for (std::size_t i = 1; i < table.data_start(); ++i) words[i] = before[i];
  for (std::size_t i = table.aging_start(); i < table.stride(); ++i) words[i] = before[i];
  return words;
}

}  // namespace

TableBatch::~TableBatch() {
  undo_down_to(0);
  for (Table* table : touched_) table->commit();
}

void TableBatch::undo_down_to(std::size_t steps) {
  while (undo_.size() > steps) {
    undo_.back()();
    undo_.pop_back();
  }
}

void TableBatch::changed(std::function<void()> undo, bool replaced) {
  undo_.push_back(std::move(undo));
  replaced_ = replaced;
}

void TableBatch::apply(const TableSchema& schema, Table& table, const nlohmann::json& update,
                       RowOutcomes* rows) {
  attempt([&] { dispatch(schema, table, update, rows); });
}

void TableBatch::dispatch(const TableSchema& schema, Table& table, const nlohmann::json& update,
                          RowOutcomes* rows) {
  const std::string operation = operation_of(update, kOperations);
  touched_.insert(&table);
  if (!schema.has_default() && !schema.is_indirect() &&
      (operation == "set_default" || operation == "reset_default"))
    throw bad_argument("table " + schema.name + " has no default entry that could be changed");
  if (operation == "set_default") return modify(schema, table, update, kNoEntry);
  if (operation == "reset_default") {
    check_may_change(schema, kNoEntry);
    return replace(table, kNoEntry, table.initial_default());
  }
  // Counters and meters of constant entries may be written.
  if (schema.is_const && (operation != "modify" || update.contains("action"))) {
    throw bad_argument("table " + schema.name + " has const entries; they cannot be changed");
  }
  if (operation == "clear" || operation == "reset") {
    for (const std::uint32_t entry : table.entries()) erase(table, Match(table.match(entry)));
    if (operation == "clear") return;
    for (const auto& [match, words] : table.initial_entries()) insert(table, match, words);
    return;
  }
  if (schema.keys.empty()) {
    throw bad_argument("table " + schema.name +
                       " has no keys; only its default action can be set (\"set_default\")");
  }
  if (is_of_columns(operation)) return put_columns(schema, table, operation, update, rows);
  const Match match = EntryCodec(schema, table).match(update);
  const std::uint32_t entry = table.find(match);
  const bool present = entry != kNoEntry;
  if (operation == "insert" && present)
    throw exists(schema, EntryCodec(schema, table).described(match));
  if (operation == "insert" || (operation == "upsert" && !present)) {
    return insert(schema, table, update, match);
  }
  if (operation != "modify" && operation != "delete" && operation != "upsert") {
    throw unknown_operation(operation, kOperations);
  }
  if (!present) throw not_there(schema, EntryCodec(schema, table).described(match));
  if (operation == "delete") return erase(table, match);
  modify(schema, table, update, entry);
  replaced_ = true;
}

void TableBatch::insert(const TableSchema& schema, Table& table, const nlohmann::json& update,
                        const Match& match) {
  check_room(schema, table);
  insert(table, match, EntryCodec(schema, table).words(update, false));
}

void TableBatch::insert(Table& table, const Match& match, const Table::Words& words) {
  table.insert(match, words);
  undo_.push_back([&table, match] { table.erase(match); });
}

struct TableBatch::DoneRows {
  std::vector<std::uint32_t> inserted;
  std::vector<std::pair<std::uint32_t, Table::Words>> replaced;
  std::vector<std::pair<Match, Table::Words>> erased;
};

// One step undoes all rows: as many steps as rows would take longer than the rows themselves. The
// last row is undone first, so that entries of earlier steps get their numbers back.
TableBatch::DoneRows& TableBatch::new_done_rows(Table& table) {
  const auto done = std::make_shared<DoneRows>();
  undo_.push_back([&table, done] {
    for (auto old = done->replaced.rbegin(); old != done->replaced.rend(); ++old) {
      table.replace(old->first, old->second);
    }
    for (auto entry = done->inserted.rbegin(); entry != done->inserted.rend(); ++entry) {
      table.erase(Match(table.match(*entry)));
    }
    for (auto old = done->erased.rbegin(); old != done->erased.rend(); ++old) {
      table.insert(old->first, old->second);
    }
  });
  return *done;
}

void TableBatch::put_columns(const TableSchema& schema, Table& table, const std::string& operation,
                             const nlohmann::json& update, RowOutcomes* rows) {
  const bool erases = operation == "delete_columns";
  const bool inserts = operation == "insert_columns" || operation == "upsert_columns";
  const bool replaces = operation == "modify_columns" || operation == "upsert_columns";
  using Parts = EntryColumns::Parts;
  const EntryColumns columns(schema, table, update, erases ? Parts::kKeys : Parts::kKeysAndData);
  DoneRows& done = new_done_rows(table);
  Table::Words words = columns.words();
  Match match = columns.match();
  const auto put = [&](std::size_t row) {
    columns.put_key(row, match);
    columns.put_data(row, words);
    const std::uint32_t entry = table.find(match);
    if (entry == kNoEntry) {
      if (!inserts) throw not_there(schema, EntryCodec(schema, table).described(match));
      check_room(schema, table);
      done.inserted.push_back(table.insert(match, words));
    } else if (erases) {
      done.erased.emplace_back(match, table.erase(match));
    } else if (replaces) {
      done.replaced.emplace_back(entry, table.replace(entry, with_direct_of(entry, table, words)));
      if (inserts && rows != nullptr) rows->replaced(row);
    } else {
      throw exists(schema, EntryCodec(schema, table).described(match));
    }
  };
  if (rows != nullptr) rows->begin(columns.rows());
  for (std::size_t row = 0; row < columns.rows(); ++row) {
    try {
      put(row);
    } catch (const CommandError& error) {
      if (rows == nullptr)
        throw CommandError(error.code(), "row " + std::to_string(row) + ": " + error.what());
      rows->failed(row, error);
    }
  }
}

// Counters and meters of the entry run on, as on the ASIC, but for those that the update has a
// value for. Without an action, the entry keeps its action and data. kNoEntry: the default entry.
void TableBatch::modify(const TableSchema& schema, Table& table, const nlohmann::json& update,
                        std::uint32_t entry) {
  const EntryCodec codec(schema, table);
  const auto before = table.words(entry);
  Table::Words words(before.begin(), before.end());
  if (!codec.is_direct_only(update)) {
    check_may_change(schema, entry);
    words = with_direct_of(entry, table, codec.words(update, entry == kNoEntry));
  }
  codec.put_direct(update, words);
  replace(table, entry, words);
}

void TableBatch::replace(Table& table, std::uint32_t entry, const Table::Words& words) {
  Table::Words old = table.replace(entry, words);
  undo_.push_back([&table, entry, old = std::move(old)] { table.replace(entry, old); });
}

void TableBatch::erase(Table& table, const Match& match) {
  Table::Words old = table.erase(match);
  undo_.push_back([&table, match, old = std::move(old)] { table.insert(match, old); });
}

}  // namespace turntable::dataplane
