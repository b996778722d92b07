#include "p4runtime_server/action_sets.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "p4runtime_server/profile_fields.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

constexpr std::uint64_t kEndOfNumbers = std::uint64_t{1} << 32U;

std::uint64_t number_in(const std::map<std::uint32_t, std::uint64_t>& numbers,
                        std::uint32_t profile) {
  const auto found = numbers.find(profile);
  return found == numbers.end() ? 0 : found->second;
}

// Those of sets that a table of members or groups has.
std::set<std::uint32_t> numbers_of_sets(bfrt_server::SwitchLink& link, const std::string& table,
                                        const char* key) {
  std::set<std::uint32_t> numbers;
  const nlohmann::json found = link.call("table_read", {{"table", table}});
  for (const auto& entry : found.at("entries")) {
    const auto number = entry.at("key").at(key).get<std::uint32_t>();
    if (number >= kFirstOneShot) numbers.insert(number);
  }
  return numbers;
}

bool has_all(const std::set<std::uint32_t>& members, const ActionSet& set) {
  for (std::uint32_t i = 0; i < set.members; ++i) {
    if (!members.contains(set.first + i)) return false;
  }
  return true;
}

}  // namespace

ActionSets::ActionSets(const ProgramInfo& info, bfrt_server::SwitchLink& link) {
  count(info, link);
}

void ActionSets::count(const ProgramInfo& info, bfrt_server::SwitchLink& link) {
  known_.clear();
  others_.clear();
  other_groups_.clear();
  taken_.clear();
  for (const config::ActionProfile& profile : info.document().action_profiles()) {
    if (!profile.with_selector()) continue;
    const std::uint32_t id = profile.preamble().id();
    const std::string& selector = info.selector_of(profile);
    const auto members = numbers_of_sets(link, info.on_switch(profile.preamble()), kMember);
    auto groups = numbers_of_sets(link, selector, kGroup);
    taken_.insert(members.begin(), members.end());
    taken_.insert(groups.begin(), groups.end());
    std::erase_if(sets_, [&](const auto& entry_and_set) {
      const ActionSet& set = entry_and_set.second;
      return set.profile == id && !has_all(members, set);
    });
    for (const auto& [entry, set] : sets_) {
      if (set.profile != id) continue;
      known_[id] += set.members;
      groups.erase(set.first);
    }
    others_[id] = members.size() - known_[id];
    for (const std::uint32_t group : groups) other_groups_.emplace(selector, group);
  }
}

std::uint32_t ActionSets::take(std::uint32_t members) {
  const std::uint64_t numbers = std::max(members, 1U);  // the group's
  const auto in_the_way = [&] {
    const auto number = taken_.lower_bound(static_cast<std::uint32_t>(next_));
    return number != taken_.end() && *number < next_ + numbers ? number : taken_.end();
  };
  while (next_ + numbers <= kEndOfNumbers && in_the_way() != taken_.end())
    next_ = std::uint64_t{*in_the_way()} + 1;
  if (next_ + numbers > kEndOfNumbers) {
    throw exhausted(
        "there are no numbers left for members of sets of actions; VERIFY_AND_COMMIT begins anew");
  }
  return static_cast<std::uint32_t>(std::exchange(next_, next_ + numbers));
}

const ActionSet* ActionSets::find(const std::string& entry) const {
  const auto found = sets_.find(entry);
  return found == sets_.end() ? nullptr : &found->second;
}

void ActionSets::put(const std::string& entry, ActionSet set) {
  erase(entry);
  known_[set.profile] += set.members;
  sets_[entry] = std::move(set);
}

void ActionSets::erase(const std::string& entry) {
  const auto found = sets_.find(entry);
  if (found == sets_.end()) return;
  known_[found->second.profile] -= found->second.members;
  sets_.erase(found);
}

void ActionSets::clear() {
  sets_.clear();
  known_.clear();
  others_.clear();
  other_groups_.clear();
  taken_.clear();
  next_ = kFirstOneShot;
}

bool ActionSets::is_other(const std::string& selector, std::uint32_t group) const {
  return other_groups_.contains({selector, group});
}

void ActionSets::forget_other(const std::string& selector, const ActionSet& set) {
  if (other_groups_.erase({selector, set.first}) != 0) others_[set.profile] -= set.members;
}

std::uint64_t ActionSets::members(std::uint32_t profile) const {
  return number_in(known_, profile) + number_in(others_, profile);
}

}  // namespace turntable::p4runtime_server
