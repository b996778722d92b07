#include "history/zone.h"

#include <algorithm>
#include <ranges>
#include <vector>

namespace turntable::history {
namespace {

std::vector<std::size_t> forward_zones_in_order(std::span<const Zone> zones) {
  std::vector<std::size_t> forward;
  for (std::size_t i = 0; i < zones.size(); ++i) {
    if (zones[i].is_forward()) forward.push_back(i);
  }
  std::ranges::sort(forward, {}, [&](std::size_t i) { return zones[i].first_end; });
  return forward;
}

}  // namespace

std::optional<std::pair<std::size_t, std::size_t>> find_conflict(std::span<const Zone> zones) {
  const std::vector<std::size_t> forward = forward_zones_in_order(zones);
  for (std::size_t i = 1; i < forward.size(); ++i) {
    const std::size_t before = forward[i - 1], after = forward[i];
    if (zones[after].first_end < zones[before].last_begin) return std::pair(before, after);
  }
  // The forward zones are disjoint now, so only the last one that begins before a backward zone can
  // contain it. Two backward zones never conflict.
  for (std::size_t i = 0; i < zones.size(); ++i) {
    if (zones[i].is_forward()) continue;
    const auto next = std::ranges::lower_bound(forward, zones[i].last_begin, {},
                                               [&](std::size_t f) { return zones[f].first_end; });
    if (next == forward.begin()) continue;
    const std::size_t around = *std::prev(next);
    if (zones[i].first_end < zones[around].last_begin) return std::pair(around, i);
  }
  return std::nullopt;
}

}  // namespace turntable::history
