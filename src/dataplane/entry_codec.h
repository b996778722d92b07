// Entries as JSON (docs/architecture.md §5) to and from the packed form of a table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dataplane/direct_data.h"
#include "dataplane/schema.h"
#include "dataplane/table.h"

namespace turntable::dataplane {

class EntryCodec {
 public:
  EntryCodec(const TableSchema& schema, const Table& table) : schema_(schema), table_(table) {}

  // `update` has "key" and, for tables with ternary or range keys, "priority" (0 if absent). A
  // missing lpm, ternary or range key matches anything; a missing exact key is an error.
  Match match(const nlohmann::json& update) const;

  // `update` has "action", where the table has actions, and "data"; counters that it has no value
  // for are zero, and a meter has no limits.
  Table::Words words(const nlohmann::json& update, bool for_default) const;

  // Whether `update` changes nothing of an entry but values of direct externs.
  bool is_direct_only(const nlohmann::json& update) const;
  // Those values of direct externs that `update` has.
  void put_direct(const nlohmann::json& update, Table::Words& words) const;

  // The number of `update`'s "action".
  std::size_t action_of(const nlohmann::json& update, bool for_default) const;

  // {"key", ["priority"], ["action"], "data"}; counts and limits of direct externs are among the
  // data, as in BfRt.
  nlohmann::json entry(std::uint32_t number) const;
  nlohmann::json default_entry() const;  // null where the table has none
  nlohmann::json key(std::uint32_t number) const;
  // For messages: each field's name and value, in hexadecimal of its width.
  std::string described(const Match& match) const;
  nlohmann::json counter(std::uint32_t number) const;  // {"$COUNTER_SPEC_PKTS", …}

 private:
  void put_key(Match& match, const KeySchema& key, const nlohmann::json& value) const;
  Table::Words named(const nlohmann::json& update, bool for_default) const;
  nlohmann::json action_and_data(std::uint32_t number) const;

  const TableSchema& schema_;
  const Table& table_;
  DirectData direct_{schema_, table_};
};

}  // namespace turntable::dataplane
