// What is in a store of memcached or Redis, added up: for checks against what clients have added.
#pragma once

#include <cstdint>

#include "shadowfax/client/load_settings.h"

namespace turntable::shadowfax {

struct SumOfValues {
  std::uint64_t sum = 0, found = 0;  // found: keys that have a value
};

// Reads keys 0 to keys - 1. Throws SessionError, also where a value is no number or is refused;
// std::runtime_error where the deadline (CLOCK_MONOTONIC) has passed.
SumOfValues sum_of_values(const Servers& servers, std::uint64_t keys, std::int64_t deadline_ns);

}  // namespace turntable::shadowfax
