// The keys a cache should hold, hottest first.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/key.h"
#include "workload/profile.h"

namespace turntable::workload {

// The `k` hottest key numbers in the order of their hottest generator rank (two ranks may scatter
// to the same key; it counts once). For latest they are the newest existing records; for uniform
// and sequential, where all keys are alike, the first `k`. Throws bad_argument if k > records.
std::vector<std::uint64_t> hottest_key_numbers(const Workload& workload, std::uint64_t k);

// The ids of hottest_key_numbers. Of a recorded trace, whose keys have no numbers: those with the
// most requests, of equals the smallest id; only keys whose values always fit a switch, so there
// may be fewer.
std::vector<KeyId> hottest_keys(const Workload& workload, std::uint64_t k);

}  // namespace turntable::workload
