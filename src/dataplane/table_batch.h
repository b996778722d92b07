// A batch of table updates that applies wholly or not at all.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <vector>

#include "dataplane/schema.h"
#include "dataplane/table.h"

namespace turntable::dataplane {

class TableBatch {
 public:
  TableBatch() = default;
  TableBatch(const TableBatch&) = delete;
  TableBatch& operator=(const TableBatch&) = delete;
  // Undoes everything unless `commit` was called; brings the indexes up to date in either case.
  ~TableBatch();

  // One element of table_write's "updates". Throws CommandError: bad_argument, full, or not_found.
  void apply(const TableSchema& schema, Table& table, const nlohmann::json& update);
  void commit() noexcept { undo_.clear(); }

 private:
  void insert(const TableSchema& schema, Table& table, const nlohmann::json& update,
              const Match& match);
  void upsert_columns(const TableSchema& schema, Table& table, const nlohmann::json& update);
  void modify(const TableSchema& schema, Table& table, const nlohmann::json& update,
              std::uint32_t entry);
  void erase(Table& table, const Match& match);
  void set_default(const TableSchema& schema, Table& table, const nlohmann::json& update);

  std::vector<std::function<void()>> undo_;
  std::set<Table*> touched_;
};

}  // namespace turntable::dataplane
