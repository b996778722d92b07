// Many entries of a table at once, as columns of numbers (table_write's "upsert_columns" and the
// like, docs/p4soft.md): an entry at a time costs ten times as much.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "dataplane/schema.h"
#include "dataplane/table.h"

namespace turntable::dataplane {

class EntryColumns {
 public:
  enum class Parts : std::uint8_t { kKeys, kKeysAndData };

  // `update` has "key" and, unless only keys are asked for, "action" and "data"; each value of
  // "key" and "data" is a column: an array, or packed numbers (common/packed_numbers.h), one of
  // each row. Only for tables whose keys are exact and, like the data, of at most 64 bits. Throws
  // bad_argument that names row and field.
  EntryColumns(const TableSchema& schema, const Table& table, const nlohmann::json& update,
               Parts parts);

  std::size_t rows() const { return rows_; }

  // An entry's key and words, to be given to put_key() and put_data() for each row; counters are
  // zero.
  Match match() const;
  Table::Words words() const;
  void put_key(std::size_t row, Match& match) const;
  void put_data(std::size_t row, Table::Words& words) const;

 private:
  using Column = std::vector<std::uint64_t>;

  Column column(const nlohmann::json& value, int width, const std::string& what) const;
  void check_length(const Column& column, const std::string& what);

  const TableSchema& schema_;
  const Table& table_;
  std::size_t action_ = 0;
  std::size_t rows_ = 0;
  bool has_rows_ = false;
  std::vector<Column> keys_;  // as schema_.keys
  std::vector<Column> data_;  // as the action's
};

}  // namespace turntable::dataplane
