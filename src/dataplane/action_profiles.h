// Which tables name the members of which action profile, and the groups of which selector. Whoever
// is named is there: a write that would break this is refused.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dataplane/action_selector.h"
#include "dataplane/entries_asked.h"
#include "dataplane/schema.h"
#include "dataplane/table.h"
#include "dataplane/table_batch.h"

namespace turntable::dataplane {

class ActionProfiles {
 public:
  // tables: of the program, by name; they and the selectors outlive this object.
  explicit ActionProfiles(const std::map<std::string, Table*>& tables) : tables_(tables) {}

  void add_selector(const std::string& name, ActionSelector& selector, const std::string& profile);
  // The table is one of `tables`, and empty. selector: empty: it names members alone.
  void add_implementation(const std::string& table, const std::string& profile,
                          const std::string& selector);

  // Before the update of a table or profile. Throws CommandError not_found for a member or group
  // that is not there, referenced for one that is in use and would be removed.
  void check(const TableSchema& schema, const nlohmann::json& update) const;

  // The same of an entry that is being taken over.
  void check_named(const TableSchema& schema, const nlohmann::json& entry) const;
  // [profile, selector] whose members and groups the table's entries name; null: none.
  nlohmann::json implementation_of(const TableSchema& schema) const;

  // Of a selector: an update, its groups (whose handles are their ids), how many it has. Throw
  // CommandError; what write() did until then is undone by the batch.
  void write(const TableSchema& schema, const nlohmann::json& update, TableBatch& batch) const;
  nlohmann::json read(const TableSchema& schema, const EntriesAsked& asked) const;
  std::size_t groups(const TableSchema& schema) const;
  // {"group", "hash"} -> {"table", "member"}: whom the hash chooses. Throws CommandError not_found
  // where the group is not there, or has no active member.
  nlohmann::json chosen_member(const TableSchema& schema, const nlohmann::json& args) const;

 private:
  struct Selector {
    ActionSelector* selector;
    std::string profile;
  };
  struct Implementation {
    std::string profile, selector;
  };

  void check_entry(const TableSchema& schema, const nlohmann::json& update) const;
  void check_members(const TableSchema& schema, const nlohmann::json& update) const;
  const Selector& selector_of(const TableSchema& schema) const;
  ActionSelector::Group read_group(const std::string& name, const Selector& of,
                                   const nlohmann::json& update,
                                   const ActionSelector::Group& before) const;
  void require_member(const std::string& profile, std::uint32_t member,
                      const std::string& what) const;
  void require_unused_member(const std::string& profile, std::uint32_t member) const;
  // A table that does; nullptr: none.
  const std::string* who_names_group(const std::string& selector, std::uint32_t group) const;
  void require_unused_group(const std::string& selector, std::uint32_t group) const;

  const std::map<std::string, Table*>& tables_;
  std::map<std::string, Selector> selectors_;
  std::map<std::string, Implementation> implementations_;
};

}  // namespace turntable::dataplane
