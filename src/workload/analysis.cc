#include "workload/analysis.h"

#include <algorithm>
#include <numeric>

#include "workload/key.h"

namespace turntable::workload {
namespace {

// Shares below this are the rounding errors of a difference of shares.
constexpr double kNothing = 1e-13;

Balance balance(std::vector<double> shares) {
  Balance result;
  for (double& share : shares) share = share < kNothing ? 0 : share;
  const auto [least, busiest] = std::minmax_element(shares.begin(), shares.end());
  const double low = *least;
  const double high = *std::max_element(shares.begin(), shares.end());
  result.bottleneck =
      static_cast<unsigned>(std::find(shares.begin(), shares.end(), *busiest) - shares.begin());
  if (high > 0) result.normalized = 1 / high;
  if (low > 0) result.imbalance = high / low;
  result.shares = std::move(shares);
  return result;
}

std::vector<NearTie> near_ties(const Balance& balance) {
  const double highest = balance.shares[balance.bottleneck];
  std::vector<NearTie> ties;
  for (unsigned partition = 0; partition < balance.shares.size(); ++partition) {
    const double share = balance.shares[partition];
    if (partition != balance.bottleneck && share >= highest * (1 - kNearTie)) {
      ties.push_back({partition, share});
    }
  }
  std::stable_sort(ties.begin(), ties.end(),
                   [](const NearTie& a, const NearTie& b) { return a.share > b.share; });
  return ties;
}

}  // namespace

std::vector<double> per_partition(const std::vector<double>& per_slot, unsigned scale) {
  std::vector<double> sums(scale);
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    sums[partition_of(static_cast<std::uint16_t>(slot), scale)] += per_slot[slot];
  }
  return sums;
}

ScaleAnalysis analyze_scale(std::uint64_t scale, const std::vector<double>& total,
                            const std::vector<double>& cached) {
  check_scale(scale);
  ScaleAnalysis analysis;
  analysis.scale = static_cast<unsigned>(scale);
  std::vector<double> all = per_partition(total, analysis.scale);
  std::vector<double> hits = per_partition(cached, analysis.scale);
  const double requests = std::accumulate(all.begin(), all.end(), 0.0);

  std::vector<double> misses(analysis.scale);
  for (unsigned partition = 0; partition < analysis.scale; ++partition) {
    all[partition] /= requests;
    hits[partition] /= requests;
    misses[partition] = all[partition] - hits[partition];
  }
  analysis.hit_mass = std::accumulate(hits.begin(), hits.end(), 0.0);
  analysis.uncached = balance(std::move(all));
  analysis.cached = balance(std::move(misses));
  analysis.near_ties = near_ties(analysis.uncached);
  return analysis;
}

}  // namespace turntable::workload
