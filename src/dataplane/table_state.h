// What a table has that it did not begin with, as JSON: entries, default entry, and what their
// direct externs hold. The same table of another program goes on from there.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/command_error.h"
#include "dataplane/action_profiles.h"
#include "dataplane/schema.h"
#include "dataplane/table.h"

namespace turntable::dataplane {

// State of one program that has no place in another one.
inline CommandError state_conflict(const std::string& message) {
  return {"state_conflict", message};
}

class TableState {
 public:
  // `program`: whose table it is, for messages.
  TableState(std::string program, const TableSchema& schema, Table& table,
             const ActionProfiles& profiles);

  // {"keys", "implementation", "actions", "is_const", "entries", ["default"]}, where an entry is
  // {["key"], ["priority"], ["action"], ["data"], ["direct": {NAME: {"kind", "words"}}]}; of a
  // constant entry, and of a default entry that is as it was, "direct" alone. No entries: those
  // that the table began with were deleted. null: nothing.
  nlohmann::json read() const;

  // Instead of the entries that the program began with, those of `state`. Counts and ages of hits
  // that have no place here are left out. Throws CommandError state_conflict; then the table may
  // have some of it.
  void take(const nlohmann::json& state);

  // Of a table that is not there any more. Throws CommandError state_conflict where `state` has
  // more than counts and ages of hits.
  static void check_removal(const std::string& program, const std::string& table,
                            const nlohmann::json& state);

 private:
  // What an entry has of one direct extern, or of its age.
  struct DirectPart {
    const char* name;
    std::string kind;  // of another kind, the words mean something else
    std::size_t begin;
    std::size_t end;

    std::size_t size() const { return end - begin; }
  };
  static std::vector<DirectPart> direct_parts(const TableSchema& schema, const Table& table);

  nlohmann::json keys() const;
  nlohmann::json actions() const;
  nlohmann::json direct(std::uint32_t entry) const;
  void remove_direct(nlohmann::json& data) const;  // of what direct() tells
  nlohmann::json entry(std::uint32_t number) const;
  nlohmann::json default_entry() const;

  std::string named(const Match* match) const;  // nullptr: the default entry
  // Throws where entries that need a place have none. False: counts that have none.
  bool have_place(const nlohmann::json& entries, const nlohmann::json& state) const;
  void check_action(const nlohmann::json& state, const nlohmann::json& actions_now,
                    const nlohmann::json& entry, const Match* match) const;
  void take_entry(const nlohmann::json& state, const nlohmann::json& actions_now,
                  const nlohmann::json& entry);
  void take_default(const nlohmann::json& state, const nlohmann::json& actions_now);
  void put_direct(const nlohmann::json& entry, const Match* match, Table::Words& words) const;

  std::string program_;
  const TableSchema& schema_;
  Table& table_;
  const ActionProfiles& profiles_;
  std::vector<DirectPart> parts_;
  Table::Words fresh_;  // an entry's, before anything happens to it
};

}  // namespace turntable::dataplane
