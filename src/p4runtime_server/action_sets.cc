#include "p4runtime_server/action_sets.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "p4runtime_server/profile_fields.h"

namespace turntable::p4runtime_server {
namespace {

std::uint64_t number_in(const std::map<std::uint32_t, std::uint64_t>& numbers,
                        std::uint32_t profile) {
  const auto found = numbers.find(profile);
  return found == numbers.end() ? 0 : found->second;
}

}  // namespace

ActionSets::ActionSets(const ProgramInfo& info, bfrt_server::SwitchLink& link) {
  count(info, link);
}

void ActionSets::count(const ProgramInfo& info, bfrt_server::SwitchLink& link) {
  std::set<std::uint32_t> there;
  others_.clear();
  for (const config::ActionProfile& profile : info.document().action_profiles()) {
    if (!profile.with_selector()) continue;
    const auto found = link.call("table_read", {{"table", info.on_switch(profile.preamble())}});
    for (const auto& entry : found.at("entries")) {
      const auto number = entry.at("key").at(kMember).get<std::uint32_t>();
      if (number < kFirstOneShot) continue;
      next_ = std::max(next_, number + 1);
      ++others_[profile.preamble().id()];
      there.insert(number);
    }
  }
  std::erase_if(sets_, [&](const auto& entry_and_set) {
    const ActionSet& set = entry_and_set.second;
    const auto first = there.lower_bound(set.first);
    return std::distance(first, there.lower_bound(set.first + set.members)) != set.members;
  });
  known_.clear();
  for (const auto& [entry, set] : sets_) {
    known_[set.profile] += set.members;
    others_[set.profile] -= set.members;
  }
}

std::uint32_t ActionSets::take(std::uint32_t members) {
  const std::uint32_t first = next_;
  next_ += std::max(members, 1U);  // the group's
  return first;
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

void ActionSets::abandon(const std::string& entry) {
  const ActionSet& set = sets_.at(entry);
  others_[set.profile] += set.members;
  erase(entry);
}

bool ActionSets::has_others(std::uint32_t profile) const {
  return number_in(others_, profile) != 0;
}

const ActionSet* ActionSets::adopt(const std::string& entry, ActionSet set) {
  others_[set.profile] -= set.members;
  put(entry, std::move(set));
  return find(entry);
}

void ActionSets::clear() {
  sets_.clear();
  known_.clear();
  others_.clear();
}

std::uint64_t ActionSets::members(std::uint32_t profile) const {
  return number_in(known_, profile) + number_in(others_, profile);
}

}  // namespace turntable::p4runtime_server
