// What a logical server counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "netclone/server/slots.h"
#include "stats/histogram.h"

namespace turntable::netclone {

// Of the measurement, on CLOCK_MONOTONIC; empty at first.
struct ServerWindow {
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;

  bool contains(std::int64_t at_ns) const noexcept { return at_ns >= from_ns && at_ns < until_ns; }
  std::int64_t overlap_ns(std::int64_t begin_ns, std::int64_t end_ns) const noexcept {
    return std::max<std::int64_t>(0, std::min(end_ns, until_ns) - std::max(begin_ns, from_ns));
  }
};

struct ServerStatistics {
  static constexpr std::int64_t kMaxNs = 60'000'000'000;
  static constexpr std::int64_t kMaxQueue = 100'000;

  // Of requests that arrived in the window.
  std::int64_t received = 0;
  std::int64_t clones_received = 0;
  std::int64_t clones_dropped = 0;
  stats::Histogram queue_length{kMaxQueue};  // that they found, without those being served
  // Of requests whose work was to end in the window.
  std::int64_t answered = 0;
  std::int64_t answers_empty = 0;           // a queue of 0 was reported
  std::int64_t answers_empty_all_busy = 0;  // of these: until then no worker had been free
  stats::Histogram work_error_ns{kMaxNs};   // how far the end of the work was from the drawn one
  stats::Histogram fifo_wait_ns{kMaxNs};
  // Of work, what lies in the window.
  std::int64_t planned_work_ns = 0;  // as it was drawn
  std::int64_t busy_slot_ns = 0;     // from its start until it was done indeed
  std::int64_t cpu_ns = 0;           // of the server's threads
  std::int64_t wait_ns = 0;          // they could run, but others had the processors

  // Since `prepare`.
  std::int64_t received_total = 0;
  std::int64_t answered_total = 0;
  std::int64_t clones_dropped_total = 0;
  std::int64_t probes = 0;
  std::int64_t malformed = 0;
  std::int64_t send_errors = 0;
  std::int64_t receive_errors = 0;
  std::int64_t lost_ns = 0;  // work that lateness beyond Slots::kMaxCatchUpNs has cost
  std::int64_t socket_drops = 0;
  bool realtime = false;  // threads run before ordinary ones

  void count_arrival(const ServerWindow& window, const Packet& packet, std::int64_t arrival_ns,
                     std::uint32_t queue, bool dropped) noexcept;
  void count_answer(const ServerWindow& window, const Slots::Completion& completion,
                    std::int64_t done_ns) noexcept;
};

// Counts, and histograms as HdrHistogram texts.
nlohmann::json raw_statistics(const ServerStatistics& statistics);

}  // namespace turntable::netclone
