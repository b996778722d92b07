// Counts the allocations of a test program (its operator new is replaced; see
// allocation_counter.cc).
#pragma once

#include <cstdint>

namespace turntable {

std::uint64_t allocation_count();

}  // namespace turntable
