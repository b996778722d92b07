// One-shot programming of selectors: an entry has a set of actions, for which softswitch has
// members and a group that clients do not see.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "bfrt_server/switch_link.h"
#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/program_info.h"

namespace turntable::p4runtime_server {

// Numbers of members and groups from here on are those of sets; clients have the lower ones.
inline constexpr std::uint32_t kFirstOneShot = 1U << 31U;

struct ActionSet {
  p4::v1::ActionProfileActionSet written;
  std::uint32_t profile = 0;
  std::uint32_t first = 0;  // of its members; its group's too
  std::uint32_t members = 0;
};

// The sets of all entries. Not thread-safe.
class ActionSets {
 public:
  // With those that softswitch has already, from a server before this one. Throws CommandError.
  ActionSets(const ProgramInfo& info, bfrt_server::SwitchLink& link);

  // Looks at what softswitch has now, and drops sets that have lost members: not only this server
  // deletes them. Throws CommandError.
  void count(const ProgramInfo& info, bfrt_server::SwitchLink& link);

  // Numbers that nothing has had. Throws Refusal RESOURCE_EXHAUSTED.
  std::uint32_t take(std::uint32_t members);

  // `entry`: its notes' name. nullptr: it has none.
  const ActionSet* find(const std::string& entry) const;
  void put(const std::string& entry, ActionSet set);
  void erase(const std::string& entry);
  void clear();

  // Whether a set that is not known here has this number: a server before this one made it.
  bool is_other(const std::string& selector, std::uint32_t group) const;
  // Such a set is there no more.
  void forget_other(const std::string& selector, const ActionSet& set);
  bool has_others() const { return !other_groups_.empty(); }

  // Of all sets of a profile, known here or not.
  std::uint64_t members(std::uint32_t profile) const;

 private:
  std::map<std::string, ActionSet> sets_;
  // Numbers of members, by profile: of sets_, and of other sets.
  std::map<std::uint32_t, std::uint64_t> known_, others_;
  std::set<std::pair<std::string, std::uint32_t>> other_groups_;  // by selector
  std::set<std::uint32_t> taken_;  // numbers that softswitch had when it was looked at
  std::uint64_t next_ = kFirstOneShot;
};

}  // namespace turntable::p4runtime_server
