// Workloads whose hot keys change (FarReach reference, section 7; docs/workloads.md §8): in every
// period other keys take the places of the hottest ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/key.h"

namespace turntable::workload {

enum class Pattern : std::uint8_t { kStable, kHotIn, kHotOut, kRandom };

// "stable", "hotin", "hotout" or "random". Throws bad_argument for other names.
Pattern pattern_from(const std::string& name);
const char* pattern_name(Pattern pattern);

// What begins a period.
struct PopularityChange {
  std::vector<KeyId> keys;  // that come into the list, hottest first
  // Only with kRandom: as many places of the list, distinct, which the keys take in this order.
  std::vector<std::uint32_t> positions;
};

// The keys of every period's hot list, by popularity: `hottest`, then one list for each of
// `changes`. A request for the key that has place j of the first list goes in period t to the one
// that has place j of list t.
//
//   hotin   the keys are put before the list, whose last ones fall out
//   hotout  the list loses as many of its hottest keys, and gets the keys at its end
//   random  the keys take the places of others
//   stable  no keys change
//
// Throws bad_argument if a change does not fit its pattern or the list.
std::vector<std::vector<KeyId>> hot_lists(Pattern pattern, std::vector<KeyId> hottest,
                                          const std::vector<PopularityChange>& changes);

}  // namespace turntable::workload
