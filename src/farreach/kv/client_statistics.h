// What one client thread counts in an iteration. docs/raw-format.md explains the fields.
#pragma once

#include <cstdint>
#include <vector>

#include "stats/histogram.h"

namespace turntable::kv {

// Longer latencies are recorded as this long (and counted as clamped).
inline constexpr std::int64_t kMaxLatencyNs = 60'000'000'000;

struct PartitionStatistics {
  // In the measurement window, by who answered.
  std::int64_t server_ops = 0;
  std::int64_t switch_ops = 0;
  stats::Histogram server_latency_ns{kMaxLatencyNs};
  stats::Histogram switch_latency_ns{kMaxLatencyNs};
  // Over the whole iteration, warm-up and drain included: what the switch counts too.
  std::int64_t requests_total = 0;
  std::int64_t answers_total = 0;

  void merge(const PartitionStatistics& other);
};

struct PartitionSecond {
  std::int64_t server_ops = 0;
  std::int64_t switch_ops = 0;
  std::int64_t latency_sum_ns = 0;
  std::int64_t latency_max_ns = 0;
};

struct SecondStatistics {
  std::vector<PartitionSecond> partitions;
  std::int64_t retries = 0;

  void merge(const SecondStatistics& other);
};

struct ClientStatistics {
  ClientStatistics(std::size_t running_partitions, std::size_t seconds);

  std::vector<PartitionStatistics> partitions;  // by index of the running partition
  std::vector<SecondStatistics> seconds;        // of the window

  // Over the whole iteration.
  std::int64_t timeouts = 0;
  std::int64_t retries = 0;
  std::int64_t stale_answers = 0;  // to an id that is not outstanding: late twins
  std::int64_t malformed = 0;      // no answer in the packet format, or to an id never given
  std::int64_t mismatched = 0;     // outstanding id, but another key or type
  std::int64_t wrong_node = 0;     // from a server of another partition
  std::int64_t wrong_values = 0;   // a value that was never written under its key
  std::int64_t not_found = 0;
  std::int64_t send_errors = 0;
  std::int64_t receive_errors = 0;
  std::int64_t in_flight_at_stop = 0;
  std::int64_t answered_in_drain = 0;
  std::int64_t unanswered = 0;  // when the drain ended

  // Adds all counts of another thread of the same iteration.
  void merge(const ClientStatistics& other);
};

}  // namespace turntable::kv
