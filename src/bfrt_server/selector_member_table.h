// The question which member of a selector's group a hash chooses: a table that is only read, entry
// by entry.
#pragma once

#include <string>

#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

class SelectorMemberTable final : public TableAccess {
 public:
  SelectorMemberTable(const bfrt::Table& table, PipesShown shown)
      : TableAccess(table), shown_(shown) {}

  void write(const EntryWrite& update, WriteBatch& batch) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;

 private:
  std::string selector() const;  // its name

  PipesShown shown_;
};

}  // namespace turntable::bfrt_server
