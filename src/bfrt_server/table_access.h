// What each kind of table does with the entries of Write and Read.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bfrt/bfruntime.pb.h"
#include "bfrt/schema.h"
#include "bfrt_server/failure.h"
#include "bfrt_server/switch_link.h"
#include "bfrt_server/table_scope.h"

namespace turntable::bfrt_server {

class WriteBatch;

// softswitch's limits of a meter that has none: every packet is green.
inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

struct EntryWrite {
  bfrt_proto::Update::Type type;
  const bfrt_proto::TableEntry& entry;
  const bfrt_proto::TargetDevice& target;
};

struct EntryRead {
  const bfrt_proto::TableEntry& entry;
  const bfrt_proto::TargetDevice& target;

  bool by_handle() const { return entry.value_case() == bfrt_proto::TableEntry::kHandleId; }
  // Older clients set the flags at another place.
  bool from_hw() const {
    return entry.table_flags().from_hw() || entry.table_read_flag().from_hw();
  }
  bool key_only() const {
    return entry.table_flags().key_only() || entry.table_read_flag().key_only();
  }
};

// What became of the reads that were asked for together.
class ReadAnswers {
 public:
  explicit ReadAnswers(std::size_t reads) : answers_(reads), failures_(reads) {}

  // The answer's entry, with table id, flags and target as the question has them.
  bfrt_proto::TableEntry& add(std::size_t read, const EntryRead& question);
  void fail(std::size_t read, const Failure& failure) { failures_.at(read) = failure.status(); }

  std::vector<bfrt_proto::TableEntry>& entries(std::size_t read) { return answers_.at(read); }
  const grpc::Status& status(std::size_t read) const { return failures_.at(read); }

 private:
  std::vector<std::vector<bfrt_proto::TableEntry>> answers_;
  std::vector<grpc::Status> failures_;
};

// Thread-safe.
class TableAccess {
 public:
  explicit TableAccess(const bfrt::Table& table) : table_(table) {}
  TableAccess(const TableAccess&) = delete;
  TableAccess& operator=(const TableAccess&) = delete;
  virtual ~TableAccess() = default;

  const bfrt::Table& table() const { return table_; }

  // Adds to the batch what is to be done. Throws Failure.
  virtual void write(const EntryWrite& update, WriteBatch& batch) = 0;

  // Reads of this table that came one after the other. Throws Failure where all fail; this one
  // reads them one by one.
  virtual void read(const std::vector<EntryRead>& reads, SwitchLink& link, ReadAnswers& answers);

  // nullptr: its entries have no scopes (attribute EntryScope).
  virtual TableScope* scope() { return nullptr; }
  // Whether a read without a key may be of the default entry alone.
  virtual bool has_default_entry() const { return false; }
  // Entries, of the scope that the target names where they have one. Throws Failure.
  virtual std::uint32_t usage(const bfrt_proto::TargetDevice& target, SwitchLink& link);
  // Whether an entry can be read by its handle instead of by its key, and that handle. Throws
  // Failure.
  virtual bool has_handles() const { return false; }
  virtual std::uint32_t handle_of(const bfrt_proto::TableKey& key,
                                  const bfrt_proto::TargetDevice& target, SwitchLink& link);
  // "Sync" and the like. Throws Failure where the table has no such operation.
  virtual void operate(const std::string& operation, SwitchLink& link);

 protected:
  virtual void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                        ReadAnswers& answers);

  // "Table Add failed table:NAME", which failures of this update begin with.
  std::string context(bfrt_proto::Update::Type type, bool is_default = false) const;
  std::string reading() const { return "Entry not found in table:" + table_.name; }
  Failure no_handles() const { return cannot("its entries have no handles; read them by key;"); }
  Failure cannot(const std::string& what) const {
    return not_supported("table:" + table_.name + ": " + what);
  }

  // The fields of the message by name; no field twice, none that is unknown or read-only, all that
  // are mandatory where `complete`. Throws Failure.
  nlohmann::json data_of(const bfrt_proto::TableData& data, const std::string& context,
                         bool complete) const;
  const bfrt::Action* action_of(const bfrt_proto::TableData& data,
                                const std::string& context) const;
  // The key's fields by name; all mandatory ones are there. Throws Failure.
  nlohmann::json key_of(const bfrt_proto::TableKey& key, const std::string& context) const;
  void put_key(const nlohmann::json& key, bfrt_proto::TableEntry& entry) const;
  // Of `data`, those that the question asks for (it may name none: all); those of registers once
  // for each of `pipes`, with the values of `data_of_pipes` where there are any.
  void put_data(const nlohmann::json& data, const bfrt::Action* action,
                const bfrt_proto::TableData& wanted, bfrt_proto::TableEntry& entry,
                std::uint32_t pipes = 1,
                const nlohmann::json& data_of_pipes = nlohmann::json::array()) const;

 private:
  const bfrt::Table& table_;
};

// A table of the program, in the pipes of its scope.
class ProgramTable : public TableAccess {
 public:
  // Throws CommandError.
  ProgramTable(const bfrt::Table& table, PipesShown shown, SwitchLink& link)
      : TableAccess(table), scope_(table, shown, link) {}

  TableScope* scope() final { return &scope_; }

 protected:
  TableScope scope_;
};

}  // namespace turntable::bfrt_server
