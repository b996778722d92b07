// What a generator counts beyond its open loops (load/open_loop_statistics.h). It adds up.
#pragma once

#include <cstdint>

#include "load/open_loop_statistics.h"
#include "stats/histogram.h"

namespace turntable::mcload {

// Of the whole iteration.
struct Errors {
  std::int64_t protocol = 0;  // answers that are none, or that nobody awaits
  std::int64_t server_error = 0;
  std::int64_t client_error = 0;
  std::int64_t out_of_memory = 0;
  std::int64_t wrong_size = 0;  // a value is not that of this content
  std::int64_t closed = 0;      // connections; their requests are lost
  std::int64_t reconnected = 0;

  std::int64_t of_requests() const noexcept {
    return protocol + server_error + client_error + out_of_memory;
  }
  void merge(const Errors& other) noexcept {
    protocol += other.protocol;
    server_error += other.server_error;
    client_error += other.client_error;
    out_of_memory += other.out_of_memory;
    wrong_size += other.wrong_size;
    closed += other.closed;
    reconnected += other.reconnected;
  }
};

// Of the window's GETs, or of its SETs.
struct Latencies {
  stats::Histogram intended_ns{load::OpenLoopStatistics::kMaxLatencyNs};
  stats::Histogram from_send_ns{load::OpenLoopStatistics::kMaxLatencyNs};
  // Requests that are in neither: sent and never answered, and never sent.
  std::int64_t lost = 0;
  std::int64_t unsent = 0;

  void merge(const Latencies& other) {
    intended_ns.merge(other.intended_ns);
    from_send_ns.merge(other.from_send_ns);
    lost += other.lost;
    unsent += other.unsent;
  }
};

struct KeyValueStatistics {
  static constexpr std::int64_t kMaxQueued = 10'000;

  // Answered requests whose intended instant lies in the window.
  std::int64_t gets = 0;
  std::int64_t sets = 0;
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  Latencies get, set;
  Errors errors;
  // Connections whose oldest request was sent before the drain began, and had no answer at its end.
  std::int64_t silent = 0;
  // In the window.
  stats::Histogram queued{kMaxQueued};  // of a connection: requests under way as one is added
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_bytes = 0;
  std::int64_t user_ns = 0;  // CPU time of the threads
  std::int64_t system_ns = 0;

  void merge(const KeyValueStatistics& other) {
    gets += other.gets;
    sets += other.sets;
    hits += other.hits;
    misses += other.misses;
    get.merge(other.get);
    set.merge(other.set);
    errors.merge(other.errors);
    silent += other.silent;
    queued.merge(other.queued);
    rx_bytes += other.rx_bytes;
    tx_bytes += other.tx_bytes;
    user_ns += other.user_ns;
    system_ns += other.system_ns;
  }
};

}  // namespace turntable::mcload
