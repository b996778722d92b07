#include "homa/nodes/call_statistics.h"

#include <iterator>

namespace turntable::homa {
namespace {

constexpr std::int64_t kHighestNs = 1'000'000'000'000;
constexpr std::int64_t kHighestSlowdown = 100'000'000;  // thousandths
constexpr std::int64_t kHighestLateNs = 10'000'000'000;

}  // namespace

CallStatistics::Percentile::Percentile() : rtt_ns(kHighestNs), slowdown_1000(kHighestSlowdown) {}

CallStatistics::CallStatistics(std::size_t window_seconds)
    : percentiles(100), seconds(window_seconds), begin_late_ns(kHighestLateNs) {}

double IdleRoundTrips::ns(std::uint32_t bytes) const noexcept {
  const auto above = ns_by_bytes_.lower_bound(bytes);
  if (above == ns_by_bytes_.end()) return std::prev(above)->second;
  if (above == ns_by_bytes_.begin() || above->first == bytes) return above->second;
  const auto below = std::prev(above);
  const double share =
      static_cast<double>(bytes - below->first) / static_cast<double>(above->first - below->first);
  return below->second + share * (above->second - below->second);
}

}  // namespace turntable::homa
