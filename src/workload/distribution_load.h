// The slot loads of single distributions: the parts of expected_slot_loads. Their sum is not yet 1.
#pragma once

#include <algorithm>
#include <cstdint>

#include "workload/slot_load.h"

namespace turntable::workload {

// How many records the window of `operations` inserts, at least 1.
inline std::uint64_t expected_inserts(const Workload& workload) {
  const double inserts = static_cast<double>(workload.operations) * workload.proportions.insert;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(inserts));
}

// A read-modify-write is two requests.
inline double requests_per_operation(const Workload& workload) {
  return 1 + workload.proportions.read_modify_write;
}

// `record_counts`: how many records each slot holds.
SlotLoads zipfian_loads(const Workload& workload, const SlotLoads& record_counts,
                        const KeySet& cached, std::uint64_t head_ranks);

SlotLoads latest_loads(const Workload& workload, const KeySet& cached);

}  // namespace turntable::workload
