// Updates of one kind as rows of numbers: softswitch takes them as columns (docs/p4soft.md), ten
// times as fast as one by one.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "bfrt/bfruntime.pb.h"
#include "bfrt/schema.h"
#include "bfrt_server/table_scope.h"

namespace turntable::bfrt_server {

class EntryRows {
 public:
  struct Kind {
    bfrt_proto::Update::Type type;
    const bfrt::Table* table;
    const bfrt::Action* action;  // nullptr: DELETE
    Pipes pipes = {};            // which parse() leaves alone

    bool operator==(const Kind&) const = default;
  };
  // Fields of the key and of the action, in the schema's order.
  using Row = std::vector<std::uint64_t>;

  // The kind of an update that is INSERT, MODIFY, INSERT_OR_MODIFY or DELETE of an entry with an
  // exact key and with all data of its action, all of them plain numbers of up to 64 bits, which
  // are put into `row`. Nothing: it is another update, or a wrong one.
  static std::optional<Kind> parse(bfrt_proto::Update::Type type,
                                   const bfrt_proto::TableEntry& entry, const bfrt::Table& table,
                                   Row& row);

  explicit EntryRows(const Kind& kind) : kind_(kind) {}

  // `number`: of the update in its Write.
  void add(std::size_t number, std::span<const std::uint64_t> row);

  const Kind& kind() const { return kind_; }
  std::size_t size() const { return numbers_of_updates_.size(); }
  std::size_t number(std::size_t row) const { return numbers_of_updates_[row]; }
  std::size_t bytes() const { return values_.size() * sizeof(std::uint64_t); }

  // Elements of table_write's "updates": all rows as one, or one row.
  nlohmann::json as_columns() const;
  nlohmann::json as_update(std::size_t row) const;

 private:
  Kind kind_;
  std::vector<std::size_t> numbers_of_updates_;
  std::vector<std::uint64_t> values_;  // of row 0, of row 1, ...
};

}  // namespace turntable::bfrt_server
