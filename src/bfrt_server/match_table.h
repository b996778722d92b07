// Match-action tables of the program, and what has entries like theirs: action profiles and
// selectors, value sets of parsers, the metadata of ports. Only tables with actions of their own
// have a default entry here.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

class MatchTable final : public ProgramTable {
 public:
  using ProgramTable::ProgramTable;

  void write(const EntryWrite& update, WriteBatch& batch) override;
  void read(const std::vector<EntryRead>& reads, SwitchLink& link, ReadAnswers& answers) override;
  bool has_default_entry() const override { return has_default() || is_indirect(); }
  std::uint32_t usage(const bfrt_proto::TargetDevice& target, SwitchLink& link) override;
  bool has_handles() const override { return true; }
  std::uint32_t handle_of(const bfrt_proto::TableKey& key, const bfrt_proto::TargetDevice& target,
                          SwitchLink& link) override;
  void operate(const std::string& operation, SwitchLink& link) override;

 private:
  bool has_actions() const { return !table().actions.empty(); }
  bool has_default() const { return has_actions() && table().type != "Action"; }
  // Its entries name a member, or a group; its default entry a member, or it has the program's
  // action.
  bool is_indirect() const { return table().type.starts_with("MatchAction_Indirect"); }
  bool may_be_columns() const;
  void write_default(const EntryWrite& update, WriteBatch& batch);
  void write_entry(const EntryWrite& update, WriteBatch& batch);
  bool write_row(const EntryWrite& update, WriteBatch& batch);
  bool counts_anew(bfrt_proto::Update::Type type) const;
  nlohmann::json selector(const bfrt_proto::TableKey& key, const std::string& context) const;
  void put_action_and_data(const EntryWrite& update, nlohmann::json& written,
                           const std::string& context) const;
  // Each is about one entry, in the same pipes: all by key, or all by handle.
  void read_named(const std::vector<EntryRead>& reads, const std::vector<std::size_t>& named,
                  const Pipes& pipes, SwitchLink& link, ReadAnswers& answers);
  void read_entries(std::size_t number, const EntryRead& read, const Pipes& pipes, SwitchLink& link,
                    ReadAnswers& answers);
  std::vector<Pipes> pipes_of_all(const EntryRead& read) const;
  std::optional<Pipes> pipes_of_named(const EntryRead& read) const;
  bool asks_for_other_action(const bfrt_proto::TableEntry& entry,
                             const nlohmann::json& found) const;
  void read_all(std::size_t number, const EntryRead& read, SwitchLink& link, ReadAnswers& answers);
  const bfrt::Action* action_in(const nlohmann::json& found) const;
  void put_entry(const nlohmann::json& found, const EntryRead& read, const Pipes& pipes,
                 bfrt_proto::TableEntry& entry);
  void put_default(const nlohmann::json& found, const EntryRead& read, const Pipes& pipes,
                   bfrt_proto::TableEntry& entry);
  std::uint32_t shown_pipes(const EntryRead& read, const Pipes& pipes) const;
  nlohmann::json seen_data(const nlohmann::json& found, const Pipes& pipes, bool from_hw);

  // Direct counters as they were when last read from the device, by entry and pipes; a driver keeps
  // such a copy and answers from it unless asked for the device's.
  std::mutex mutex_;
  std::map<std::string, nlohmann::json> counters_;
};

}  // namespace turntable::bfrt_server
