// What a device gives at most: reads of a sector each, at random places, by several threads that
// wait for it. A store whose records lie there cannot have more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "hybridlog/device.h"

namespace turntable::hybridlog {

// Reads per second of the sectors in [from, to), which have been written and are at least one.
// Throws std::system_error.
double random_reads_per_s(Device& device, std::uint64_t from, std::uint64_t to, std::size_t threads,
                          std::chrono::nanoseconds duration);

}  // namespace turntable::hybridlog
