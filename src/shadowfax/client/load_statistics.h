// What the threads of a client count. Requests are of the measured window where they were answered
// in it, unless a name ends in `_total`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load/open_loop_statistics.h"
#include "load/thread_frame.h"
#include "stats/histogram.h"

namespace turntable::shadowfax {

// Of an interval of the window.
struct LoadSample {
  std::uint64_t operations = 0;
  std::uint64_t pending = 0;               // answered as pending, in it
  std::uint64_t refused_batches = 0;       // of another view, too
  std::vector<std::uint64_t> by_server{};  // operations
};

struct LoadStatistics {
  static constexpr std::int64_t kMaxRoundTripNs = 60'000'000'000;

  std::uint64_t reads = 0, upserts = 0, adds = 0;
  std::uint64_t not_found = 0;
  std::uint64_t pending = 0;  // were answered as pending first
  std::uint64_t batches = 0, refused_batches = 0;
  // In the window or not. They were not done: the device was full or gave nothing; an error.
  std::uint64_t failed_total = 0;
  std::string failed_why;                // the first error in the server's words
  std::uint64_t wrong_values_total = 0;  // that were read and are not what anybody has written
  stats::Histogram round_trip_ns{kMaxRoundTripNs};  // of batches, from their sending on
  std::vector<LoadSample> samples;
  std::int64_t silent_ns = 0;  // the longest time between two answers that a thread read
  std::uint64_t adds_issued_total = 0, adds_acknowledged_total = 0;
  std::uint64_t unanswered_total = 0;
  // Were acknowledged and lost with a server that did not come back in time to get them again.
  std::uint64_t unreplayed_total = 0;
  std::uint64_t lost_sessions = 0;
  std::string lost_why;  // of the first one

  std::uint64_t operations() const noexcept { return reads + upserts + adds; }
  void merge(const LoadStatistics& other);
};

// One thread's.
struct ThreadResult {
  LoadStatistics load;
  load::ThreadTiming timing;
  std::int64_t cpu_ns = 0;  // in the window
  std::optional<load::OpenLoopStatistics> open_loop;
};

}  // namespace turntable::shadowfax
