// What a table's direct externs add to the data of its entries, under BfRt's names: the counts of a
// DirectCounter, the limits of a DirectMeter, what a DirectLpf or DirectWred is told, the fields of
// a DirectRegister's cell; and what is left of their time to live, where the table ages them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dataplane/schema.h"
#include "dataplane/table.h"

namespace turntable::dataplane {

class DirectData {
 public:
  DirectData(const TableSchema& schema, const Table& table) : schema_(schema), table_(table) {}

  // Whether a field is of one of the table's direct externs.
  bool has(const std::string& field) const;

  // Puts those values of `data` into an entry's words that belong here, and nothing for those that
  // it does not have. A meter's limits come all four, all without a limit (kUnlimited), or not at
  // all; its buckets are then full. Throws CommandError bad_argument.
  void put(const nlohmann::json& data, Table::Words& words) const;

  nlohmann::json counts(std::uint32_t entry) const;
  nlohmann::json all(std::uint32_t entry) const;

 private:
  void put_count(const std::string& field, const nlohmann::json& value, Table::Words& words) const;
  void put_age(const std::string& field, const nlohmann::json& value, Table::Words& words) const;
  void put_cell(const DataSchema& field, const nlohmann::json& value, Table::Words& words) const;
  void put_limits(const nlohmann::json& data, Table::Words& words) const;

  const TableSchema& schema_;
  const Table& table_;
};

}  // namespace turntable::dataplane
