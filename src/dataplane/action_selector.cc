#include "dataplane/action_selector.h"

#include <algorithm>

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

bool ActionSelector::has_member(std::uint32_t member) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const auto& group) {
    return std::any_of(group.second.members.begin(), group.second.members.end(),
                       [&](const Member& each) { return each.id == member; });
  });
}

}  // namespace turntable::dataplane
