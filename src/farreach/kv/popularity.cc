#include "farreach/kv/popularity.h"

#include <string>

#include "common/command_error.h"

namespace turntable::kv {

Popularity::Popularity(const std::vector<std::vector<workload::KeyId>>& lists,
                       const std::function<int(workload::KeyId)>& running_index) {
  const auto target_of = [&](workload::KeyId key) {
    const int running = running_index(key);
    if (running >= 0) return Target{.key = key, .running = static_cast<std::uint16_t>(running)};
    throw bad_argument("popularity: the partition of hot key " + std::to_string(key) +
                       " is not among \"partitions\"; expected all partitions to run, since any "
                       "may get the next hot key");
  };
  const std::vector<workload::KeyId>& first = lists.at(0);
  positions_.reserve(first.size());
  for (std::uint32_t i = 0; i < first.size(); ++i) positions_.emplace(first[i], i);
  for (const std::vector<workload::KeyId>& list : lists) {
    std::vector<Target>& targets = periods_.emplace_back();
    targets.reserve(list.size());
    for (const workload::KeyId key : list) targets.push_back(target_of(key));
  }
  begin_period(0);
}

std::uint32_t Popularity::position(workload::KeyId key) const {
  const auto found = positions_.find(key);
  return found == positions_.end() ? kNone : found->second;
}

void Popularity::begin_period(std::size_t period) noexcept {
  current_.store(periods_[period].data(), std::memory_order_release);
}

}  // namespace turntable::kv
