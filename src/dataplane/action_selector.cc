#include "dataplane/action_selector.h"

#include <algorithm>
#include <utility>

namespace turntable::dataplane {

std::uint64_t ActionSelector::choose(std::uint64_t group, std::uint64_t hash) const noexcept {
  const auto found = groups_.find(static_cast<std::uint32_t>(group));
  if (found == groups_.end()) return kNobody;
  const std::vector<Member>& members = found->second.members;
  const auto active = static_cast<std::uint64_t>(
      std::count_if(members.begin(), members.end(), [](const Member& m) { return m.is_active; }));
  if (active == 0) return kNobody;
  if (is_resilient_) {
    const Member& first = members[hash % members.size()];
    if (first.is_active) return first.id;
    hash /= members.size();  // of what is left of the hash
  }
  std::uint64_t place = hash % active;
  for (const Member& member : members)
    if (member.is_active && place-- == 0) return member.id;
  return kNobody;
}

void ActionSelector::put(std::uint32_t group, Group members) {
  erase(group);
  for (const Member& member : members.members) ++groups_of_[member.id];
  groups_[group] = std::move(members);
}

void ActionSelector::erase(std::uint32_t group) {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  for (const Member& member : found->second.members) {
    const auto groups = groups_of_.find(member.id);
    if (--groups->second == 0) groups_of_.erase(groups);
  }
  groups_.erase(found);
}

}  // namespace turntable::dataplane
