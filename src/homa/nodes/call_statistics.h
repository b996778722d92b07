// What became of the calls of one client: by size, by second, and in all.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stats/histogram.h"

namespace turntable::homa {

// Round trips of the idle network: measured for some sizes, between them in proportion.
class IdleRoundTrips {
 public:
  IdleRoundTrips() = default;
  explicit IdleRoundTrips(std::map<std::uint32_t, double> ns_by_bytes)
      : ns_by_bytes_(std::move(ns_by_bytes)) {}

  bool empty() const noexcept { return ns_by_bytes_.empty(); }
  double ns(std::uint32_t bytes) const noexcept;  // not of none
  const std::map<std::uint32_t, double>& ns_by_bytes() const noexcept { return ns_by_bytes_; }

 private:
  std::map<std::uint32_t, double> ns_by_bytes_;
};

struct CallStatistics {
  // A hundredth of the messages, smallest first, as homa-sim has them.
  struct Percentile {
    Percentile();

    stats::Histogram rtt_ns;
    stats::Histogram slowdown_1000;  // thousandths of the idle network's round trip
  };
  struct Second {
    std::uint64_t offered = 0;
    std::uint64_t answered = 0;
    std::uint64_t offered_bytes = 0;
    std::uint64_t answered_bytes = 0;
    std::uint64_t waiting_max = 0;  // calls for which no place was free
    // When it was over: of the answers that came in it, and calls without an answer, also those
    // that wait for a place.
    std::int64_t rtt_p50_ns = 0;
    std::int64_t rtt_p99_ns = 0;
    std::int64_t rtt_p999_ns = 0;
    std::uint64_t open = 0;
  };

  explicit CallStatistics(std::size_t window_seconds = 0);

  std::vector<Percentile> percentiles;
  std::vector<Second> seconds;     // of the window, the last may be a part
  stats::Histogram begin_late_ns;  // of the client: from an arrival until it is handled
  std::uint64_t offered = 0;       // arrived in the window
  std::uint64_t answered = 0;      // of these
  std::uint64_t aborted = 0;
  std::uint64_t wrong = 0;   // answers with other bytes than were sent
  std::uint64_t waited = 0;  // of those offered: no place was free when they arrived
  std::uint64_t offered_bytes = 0;
  std::uint64_t answered_bytes = 0;  // of calls whose answers came in the window
  std::uint64_t open = 0;            // of those offered: not over
  std::uint64_t open_bytes = 0;
  std::uint64_t open_bytes_at_end = 0;  // when the window ended
  std::uint64_t outstanding_max = 0;
};

}  // namespace turntable::homa
