// The records that a target gets before it owns a range, so that it has what is hot from the first
// moment on (Shadowfax §3.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hybridlog/hash_range.h"
#include "hybridlog/store.h"

namespace turntable::shadowfax {

// Keys of the range that have records at or above `from`, in the order of their first ones: what is
// used most comes first. At most `most`. The range may be in use. Not by a thread that has
// sessions. Throws std::system_error.
std::vector<std::uint64_t> sampled_keys(hybridlog::Store& store, hybridlog::HashRange range,
                                        hybridlog::Address from, std::size_t most);

// What the keys have now, as Arrival takes it: as many as fit into so many bytes, in their order.
// Those that have nothing, or cannot be read, are left out. Not by a thread that has sessions.
struct SampledRecords {
  std::vector<std::uint8_t> bytes;
  std::size_t count = 0;
};
SampledRecords records_of(hybridlog::Store& store, const std::vector<std::uint64_t>& keys,
                          std::size_t most_bytes);

}  // namespace turntable::shadowfax
