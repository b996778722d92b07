// The probabilities of many zipfian ranks at little cost.
#pragma once

#include <algorithm>
#include <cstdint>

#include "workload/zipfian.h"

namespace turntable::workload {

// Probabilities change slowly along the ranks: over 1/1024 of a rank they are straight lines with a
// relative error below 1e-6, which saves a pow() per rank.
inline constexpr std::uint64_t kRanksPerBlockRank = 1024;
inline constexpr std::uint64_t kMaxBlock = 65'536;

// Even, or 1.
inline std::uint64_t block_length(std::uint64_t distance) {
  const std::uint64_t length = std::min(distance / kRanksPerBlockRank, kMaxBlock);
  return std::max<std::uint64_t>(length & ~std::uint64_t{1}, 1);
}

// Calls visit(rank, probability) for the ranks in [first, last).
template <typename Visit>
void for_each_rank(const Zipfian& zipfian, std::uint64_t first, std::uint64_t last, Visit visit) {
  double low = zipfian.cumulative(first);
  for (std::uint64_t rank = first; rank < last;) {
    const std::uint64_t length = std::min(block_length(rank), last - rank);
    const double high = zipfian.cumulative(rank + length);
    const double mean = (high - low) / static_cast<double>(length);
    double slope = 0;
    if (length % 2 == 0) {  // the second half's surplus over the first, for the same total
      const double middle = zipfian.cumulative(rank + length / 2);
      const double half = static_cast<double>(length) / 2;
      slope = ((high - middle) - (middle - low)) / (half * half);
    }
    double probability = mean - slope * (static_cast<double>(length) - 1) / 2;
    for (std::uint64_t i = 0; i < length; ++i, probability += slope) visit(rank + i, probability);
    rank += length;
    low = high;
  }
}

}  // namespace turntable::workload
