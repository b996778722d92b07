// What one open loop of kvclient counts, by partition, beside what every open loop counts
// (load/open_loop_statistics.h). docs/raw-format.md explains the fields.
#pragma once

#include <cstdint>
#include <vector>

#include "common/counter.h"
#include "farreach/kv/client_copies.h"
#include "farreach/kv/client_statistics.h"
#include "load/open_loop.h"
#include "load/schedule.h"
#include "stats/histogram.h"

namespace turntable::kv {

struct OpenPartition {
  std::int64_t offered = 0;  // requests whose intended instant lies in the window
  // Of these, from the sending itself, whoever answered.
  stats::Histogram from_send_ns{kMaxLatencyNs};
  // Of requests that are sent one at a time, before the load: the way there and back, and one
  // service time where a server answers.
  stats::Histogram server_path_ns{kMaxLatencyNs};
  stats::Histogram switch_path_ns{kMaxLatencyNs};

  void merge(const OpenPartition& other);
};

// ClientStatistics as closed loops have them, but that
//   - operations (and those of seconds) are first answers that arrived in the window;
//   - latencies are those of the window's requests, from their intended instants, whenever they
//     were answered.
class OpenBook {
 public:
  // probes: so many of the first requests are sent one at a time.
  OpenBook(std::size_t partitions, std::size_t copies_max, std::uint64_t probes)
      : statistics(partitions, 0), open(partitions), copies(copies_max), probes_(probes) {}

  void set_schedule(const load::Schedule& schedule);
  // An answer to an operation on the running partition, given by the switch or by a server.
  void answered(std::size_t running, bool by_switch,
                const load::OpenLoop::Counted& answer) noexcept;
  // After the last answer.
  void end(const load::OpenLoopStatistics& loop) noexcept;

  ClientStatistics statistics;
  std::vector<OpenPartition> open;  // by index of the running partition
  ClientCopies copies;
  Counter answers;

 private:
  void count_latency(std::size_t running, bool by_switch,
                     const load::OpenLoop::Counted& answer) noexcept;
  void count_delivery(std::size_t running, bool by_switch,
                      const load::OpenLoop::Counted& answer) noexcept;

  std::uint64_t probes_;
  load::Schedule schedule_{};
};

}  // namespace turntable::kv
