// The hash of a key: where it lies in the index, and which server of several owns it.
#pragma once

#include <cstdint>

#include "workload/random.h"

namespace turntable::hybridlog {

// A permutation: keys that differ have hashes that differ.
inline std::uint64_t hash_of(std::uint64_t key) noexcept {
  return workload::SplitMix64::mix(key);
}

}  // namespace turntable::hybridlog
