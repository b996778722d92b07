// What an open loop counts. Of several clients of one measurement it adds up.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stats/histogram.h"

namespace turntable::load {

struct OpenLoopSecond {
  std::int64_t offered = 0;  // requests whose instant lies in it
  std::int64_t delivered = 0;
  std::int64_t latency_sum_ns = 0;
  std::int64_t latency_max_ns = 0;
};

struct OverCount {
  std::int64_t over_ns = 0;
  std::int64_t requests = 0;  // whose latency was longer
};

struct OpenLoopStatistics {
  static constexpr std::int64_t kMaxLatencyNs = 60'000'000'000;

  // Requests of the window are those whose intended instant lies in it.
  std::int64_t offered = 0;    // requests of the window
  std::int64_t delivered = 0;  // requests of any time whose first answer came in the window
  std::vector<OpenLoopSecond> seconds;
  std::int64_t lost = 0;              // of the window, sent, and never answered
  std::int64_t unsent = 0;            // of the window; the limit withheld them to the end
  std::int64_t withheld = 0;          // of the window, sent late or never because of the limit
  std::int64_t redundant_window = 0;  // answers to requests of the window beyond the first

  // Of the window's requests that were answered, in the drain too.
  stats::Histogram latency_ns{kMaxLatencyNs};    // from the intended instant
  stats::Histogram from_send_ns{kMaxLatencyNs};  // from the sending itself
  std::array<stats::Histogram, 2> halves{stats::Histogram(kMaxLatencyNs),
                                         stats::Histogram(kMaxLatencyNs)};  // of latency_ns
  std::vector<OverCount> over;
  // How late the window's requests were sent. Of those that the limit withheld, what is the
  // thread's fault and not the server's: for how long they had been due before the limit was
  // reached, or could have been sent since an answer that the thread had not read.
  stats::Histogram send_late_ns{kMaxLatencyNs};
  // How long first answers to requests of the window lay in the socket: not part of their latency.
  stats::Histogram read_late_ns{kMaxLatencyNs};

  // Over the whole iteration.
  std::int64_t requests_total = 0;
  std::int64_t answers_total = 0;  // redundant ones too
  std::int64_t redundant = 0;      // answers beyond the first
  std::int64_t unanswered = 0;     // requests that were sent
  std::int64_t given_up = 0;       // after so long a request does not count for the limit any more

  void merge(const OpenLoopStatistics& other);
};

}  // namespace turntable::load
