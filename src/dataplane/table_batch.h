// A batch of table updates that applies wholly or not at all.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/command_error.h"
#include "dataplane/entry_columns.h"
#include "dataplane/schema.h"
#include "dataplane/table.h"

namespace turntable::dataplane {

// What became of the rows of an update of columns, where each is tried for itself.
class RowOutcomes {
 public:
  virtual ~RowOutcomes() = default;
  virtual void begin(std::size_t rows) = 0;
  virtual void failed(std::size_t row, const CommandError& error) = 0;
  // "upsert_columns" found an entry.
  virtual void replaced(std::size_t row) = 0;
};

// Of the tables of a program.
inline constexpr const char* kOperations =
    "\"insert\", \"modify\", \"upsert\", \"delete\", each also with \"_columns\", \"clear\", "
    "\"reset\", \"set_default\" or \"reset_default\"";

class TableBatch {
 public:
  TableBatch() = default;
  TableBatch(const TableBatch&) = delete;
  TableBatch& operator=(const TableBatch&) = delete;
  // Undoes everything unless `commit` was called; brings the indexes up to date in either case.
  ~TableBatch();

  // One element of table_write's "updates". Throws CommandError: bad_argument, exists, full, or
  // not_found; what it did until then is undone. With `rows`, a row of columns that fails is told
  // there, and the others are done.
  void apply(const TableSchema& schema, Table& table, const nlohmann::json& update,
             RowOutcomes* rows = nullptr);
  // Runs `change`, an update; where it throws, what it did until then is undone.
  template <typename Change>
  void attempt(const Change& change) {
    const std::size_t before = undo_.size();
    replaced_ = false;
    try {
      change();
    } catch (...) {
      undo_down_to(before);
      throw;
    }
  }
  // Something that is no table was changed. undo: makes it what it was; replaced: it was there.
  void changed(std::function<void()> undo, bool replaced);
  // Whether the last update replaced an entry that was there.
  bool replaced() const { return replaced_; }
  // Keeps what was applied.
  void commit() noexcept { undo_.clear(); }

 private:
  struct DoneRows;

  void dispatch(const TableSchema& schema, Table& table, const nlohmann::json& update,
                RowOutcomes* rows);
  void undo_down_to(std::size_t steps);
  void insert(const TableSchema& schema, Table& table, const nlohmann::json& update,
              const Match& match);
  void insert(Table& table, const Match& match, const Table::Words& words);
  void put_columns(const TableSchema& schema, Table& table, const std::string& operation,
                   const nlohmann::json& update, RowOutcomes* rows);
  DoneRows& new_done_rows(Table& table);
  void modify(const TableSchema& schema, Table& table, const nlohmann::json& update,
              std::uint32_t entry);
  void erase(Table& table, const Match& match);
  void replace(Table& table, std::uint32_t entry, const Table::Words& words);

  std::vector<std::function<void()>> undo_;
  std::set<Table*> touched_;
  bool replaced_ = false;
};

}  // namespace turntable::dataplane
