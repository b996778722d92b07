#include "dataplane/action_selector.h"

#include <utility>

namespace turntable::dataplane {

namespace {

// The one that has a place, of those that count.
template <typename Counts>
const ActionSelector::Member* at_place(const std::vector<ActionSelector::Member>& members,
                                       std::uint64_t place, const Counts& counts) noexcept {
  for (const ActionSelector::Member& member : members) {
    if (!counts(member)) continue;
    if (place < member.weight) return &member;
    place -= member.weight;
  }
  return nullptr;
}

bool is_active(const ActionSelector::Member& member) {
  return member.is_active;
}

}  // namespace

std::uint64_t ActionSelector::Group::weight() const noexcept {
  std::uint64_t sum = 0;
  for (const Member& member : members) sum += member.weight;
  return sum;
}

std::uint64_t ActionSelector::Group::active_weight() const noexcept {
  std::uint64_t sum = 0;
  for (const Member& member : members)
    if (member.is_active) sum += member.weight;
  return sum;
}

std::uint64_t ActionSelector::choose(std::uint64_t group, std::uint64_t hash) const noexcept {
  const auto found = groups_.find(static_cast<std::uint32_t>(group));
  if (found == groups_.end()) return kNobody;
  const std::vector<Member>& members = found->second.members;
  const std::uint64_t active = found->second.active_weight();
  if (active == 0) return kNobody;
  if (is_resilient_) {
    const std::uint64_t all = found->second.weight();
    const Member* first = at_place(members, hash % all, [](const Member&) { return true; });
    if (first->is_active) return first->id;
    hash /= all;  // of what is left of the hash
  }
  return at_place(members, hash % active, is_active)->id;
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
