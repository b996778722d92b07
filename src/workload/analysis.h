// What the load of the slots means for N logical servers: the bottleneck, and the throughput that
// the servers together can reach relative to one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace turntable::workload {

// How a load is spread over the logical servers. Each serves at the same capacity c, so the whole
// is limited by the busiest; requests the switch answers cost the servers nothing.
struct Balance {
  std::vector<double> shares;  // of all requests, per partition, as its server sees them
  unsigned bottleneck = 0;     // the busiest partition; the lowest number of equals
  // Total throughput / busiest server's. Nothing if no server has anything to do.
  std::optional<double> normalized;
  // Busiest / least busy server. Nothing if that one has nothing to do.
  std::optional<double> imbalance;
};

struct NearTie {
  unsigned partition;
  double share;
};

struct ScaleAnalysis {
  unsigned scale;
  Balance uncached;
  Balance cached;       // what remains when the switch answers every request for a cached key
  double hit_mass = 0;  // share of the requests that the switch answers
  // The other partitions whose uncached share is within kNearTie of the bottleneck's, descending.
  std::vector<NearTie> near_ties;
};

inline constexpr double kNearTie = 1e-3;  // relative

// `total` and `cached` are loads per slot in any unit, such as shares or request counts; `cached`
// is the part of `total` that asks for cached keys. Throws bad_argument as check_scale does.
ScaleAnalysis analyze_scale(std::uint64_t scale, const std::vector<double>& total,
                            const std::vector<double>& cached);

// Sums a per-slot quantity over the slots of each partition. `scale` must satisfy check_scale.
std::vector<double> per_partition(const std::vector<double>& per_slot, unsigned scale);

}  // namespace turntable::workload
