// Registers, counters and meters of the program: tables whose key is an index.
//
// A driver keeps a copy of registers and counters: reads without the from-hardware flag are
// answered from it, and it changes only with writes, reads from hardware, and Sync.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

class IndexedTable : public ProgramTable {
 public:
  using ProgramTable::ProgramTable;

  std::uint32_t usage(const bfrt_proto::TargetDevice& target, SwitchLink& link) override;
  // A cell's handle is its index.
  bool has_handles() const override { return true; }
  std::uint32_t handle_of(const bfrt_proto::TableKey& key, const bfrt_proto::TargetDevice& target,
                          SwitchLink& link) override;

 protected:
  std::uint32_t index_of(const bfrt_proto::TableKey& key, const std::string& context) const;
  void put_index(std::uint32_t index, bfrt_proto::TableEntry& entry) const;
  // The cells that a read is about: one, or without a key all.
  std::pair<std::uint32_t, std::uint32_t> range_of(const EntryRead& read) const;
  void check_index(std::uint32_t index, const std::string& context) const;
};

// A cell has a value in each pipe.
class RegisterTable final : public IndexedTable {
 public:
  // Reads all cells once: what the driver's copy begins with.
  RegisterTable(const bfrt::Table& table, PipesShown shown, SwitchLink& link);

  void write(const EntryWrite& update, WriteBatch& batch) override;
  void read(const std::vector<EntryRead>& reads, SwitchLink& link, ReadAnswers& answers) override;
  void operate(const std::string& operation, SwitchLink& link) override;

 private:
  void load(std::uint32_t first, std::uint32_t count, SwitchLink& link);
  void load_for(const std::vector<EntryRead>& reads, SwitchLink& link);
  void answer(std::size_t number, const EntryRead& read, ReadAnswers& answers);
  Pipes written_pipes(const bfrt_proto::TargetDevice& target, const std::string& context) const;
  // The numbers of the states that a read shows, once for each pipe.
  std::vector<std::size_t> states_of(const bfrt_proto::TargetDevice& target) const;

  std::mutex mutex_;
  // By state: of each pipe, or one for all. Fields of cell 0, of cell 1, ...
  std::vector<std::vector<std::uint64_t>> copies_;
};

// A RegisterParam: one number, its default entry.
class RegisterParamTable final : public ProgramTable {
 public:
  using ProgramTable::ProgramTable;

  void write(const EntryWrite& update, WriteBatch& batch) override;
  bool has_default_entry() const override { return true; }

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;
};

class CounterTable final : public IndexedTable {
 public:
  CounterTable(const bfrt::Table& table, PipesShown shown, SwitchLink& link);

  void write(const EntryWrite& update, WriteBatch& batch) override;
  void operate(const std::string& operation, SwitchLink& link) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;

 private:
  using Copy = std::vector<nlohmann::json>;  // data of each counter

  void load(std::optional<std::uint32_t> index, const Pipes& pipes, SwitchLink& link);
  void load_all(SwitchLink& link);

  std::mutex mutex_;
  std::map<Pipes, Copy> copies_;  // by the pipes whose counts are added up
};

// An Lpf or Wred.
class FilterTable final : public IndexedTable {
 public:
  using IndexedTable::IndexedTable;

  void write(const EntryWrite& update, WriteBatch& batch) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;
};

class MeterTable final : public IndexedTable {
 public:
  using IndexedTable::IndexedTable;

  void write(const EntryWrite& update, WriteBatch& batch) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;
};

}  // namespace turntable::bfrt_server
