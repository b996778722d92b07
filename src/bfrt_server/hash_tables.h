// The tables of a hash that the control plane configures: which fields count and in which order, by
// which algorithm, and the value for given fields.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

// One default entry, and no other.
class HashSettingTable : public TableAccess {
 public:
  using TableAccess::TableAccess;

  void write(const EntryWrite& update, WriteBatch& batch) override;
  bool has_default_entry() const override { return true; }

 protected:
  // What hash_write sets.
  virtual nlohmann::json settings(const bfrt_proto::TableData& data,
                                  const std::string& context) const = 0;
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;
};

class HashConfigureTable final : public HashSettingTable {
 public:
  using HashSettingTable::HashSettingTable;

 private:
  nlohmann::json settings(const bfrt_proto::TableData& data,
                          const std::string& context) const override;
};

class HashAlgorithmTable final : public HashSettingTable {
 public:
  using HashSettingTable::HashSettingTable;

 private:
  nlohmann::json settings(const bfrt_proto::TableData& data,
                          const std::string& context) const override;
};

// Read by its key, the values of the fields.
class HashComputeTable final : public TableAccess {
 public:
  using TableAccess::TableAccess;

  void write(const EntryWrite& update, WriteBatch& batch) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;
};

}  // namespace turntable::bfrt_server
