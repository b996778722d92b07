// Keys of the tests, and where they are.
#pragma once

#include "workload/key.h"

namespace turntable::kv::testing {

// The hottest key lies in partition 14 of 16 (FarReach reference §5.2).
inline constexpr workload::KeyId kKey = 2571001333982442796;
inline constexpr unsigned kPartition = 14;

}  // namespace turntable::kv::testing
