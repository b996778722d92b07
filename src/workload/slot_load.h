// The infinite-sample share of requests that each hash slot receives.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/key.h"
#include "workload/key_set.h"
#include "workload/profile.h"

namespace turntable::workload {

struct SlotLoads {
  std::vector<double> total = std::vector<double>(kSlots);  // shares of all requests, in all 1
  std::vector<double> cached =
      std::vector<double>(kSlots);  // the part of `total` that asks for cached keys
  // Sum of the squared probabilities of the ranks that were spread in expectation instead of being
  // followed to their keys. The share of one of N partitions is off by a standard deviation of
  // sqrt(unresolved_variance * (1/N) * (1 - 1/N)).
  double unresolved_variance = 0;
};

// Leaves a standard deviation of about 1e-6 on a share of 1/16, where the closest published race,
// between partitions 8 and 14 of skewness-95, is decided by 5e-5.
inline constexpr std::uint64_t kDefaultHeadRanks = std::uint64_t{1} << 27;

// Zipfian: the first `head_ranks` ranks are followed to their keys, the others are spread evenly
// over the keys as they really lie in the slots. Latest: the mean over the window in which
// `operations` requests insert their share. Uniform and sequential: the exact count of the keys.
// `cached` holds key numbers below `records`. Uses all processors; the result does not depend on
// their number.
SlotLoads expected_slot_loads(const Workload& workload, const KeySet& cached,
                              std::uint64_t head_ranks = kDefaultHeadRanks);

}  // namespace turntable::workload
