// What a simulation counts. Counts are of whole runs or of the window: of requests whose intended
// instant lies in it.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "stats/histogram.h"

namespace turntable::netclone::simulation {

inline constexpr std::int64_t kMaxLatencyNs = 60'000'000'000;

struct Window {
  std::int64_t from_ns = 0;
  std::int64_t until_ns = INT64_MAX;
  std::int64_t drain_until_ns = INT64_MAX;  // what is answered later is unanswered

  bool contains(std::int64_t at_ns) const noexcept { return at_ns >= from_ns && at_ns < until_ns; }
};

struct Over {
  std::int64_t ns;
  std::uint64_t count = 0;  // of the window's answered requests that took longer
};

struct Result {
  // Of the whole run.
  std::uint64_t events = 0;
  std::uint64_t requests = 0;
  std::uint64_t answered = 0;
  std::uint64_t copies = 0;
  std::uint64_t copies_answered = 0;
  std::uint64_t copies_dropped = 0;
  std::uint64_t copies_in_flight = 0;  // at the end

  // Of the window.
  std::uint64_t offered = 0;
  std::uint64_t delivered = 0;       // answers that reached their clients in the window's time
  std::uint64_t unanswered = 0;      // of the offered
  std::uint64_t cloned = 0;          // of the offered
  std::uint64_t clones_dropped = 0;  // by servers
  std::uint64_t filtered = 0;        // slower answers that did not reach the client
  std::uint64_t redundant = 0;       // slower answers that did
  std::uint64_t reports = 0;         // queue lengths that servers reported
  std::uint64_t reports_empty = 0;   // of 0
  std::uint64_t reports_empty_all_busy = 0;  // of these, by a server that had been busy throughout
  stats::Histogram latency_ns{kMaxLatencyNs};
  // Of the requests of the window's first and second half.
  std::array<stats::Histogram, 2> half_latency_ns{stats::Histogram(kMaxLatencyNs),
                                                  stats::Histogram(kMaxLatencyNs)};
  std::vector<Over> over;
};

// Counts, and histograms as HdrHistogram texts.
nlohmann::json raw_result(const Result& result);

}  // namespace turntable::netclone::simulation
