#include "netclone/server/statistics.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace turntable::netclone {

void ServerStatistics::count_arrival(const ServerWindow& window, const Packet& packet,
                                     std::int64_t arrival_ns, std::uint32_t queue,
                                     bool dropped) noexcept {
  ++received_total;
  clones_dropped_total += dropped ? 1 : 0;
  if (!window.contains(arrival_ns)) return;
  ++received;
  clones_received += packet.clone == Clone::kClone ? 1 : 0;
  clones_dropped += dropped ? 1 : 0;
  queue_length.record(queue);
}

void ServerStatistics::count_answer(const ServerWindow& window, const Slots::Completion& completion,
                                    std::int64_t done_ns) noexcept {
  const auto& [job, due_ns, queue, all_busy] = completion;
  ++answered_total;
  planned_work_ns += window.overlap_ns(job.start_ns, due_ns);
  busy_slot_ns += window.overlap_ns(job.start_ns, done_ns);
  if (!window.contains(due_ns)) return;
  ++answered;
  work_error_ns.record(std::abs(done_ns - due_ns));
  fifo_wait_ns.record(job.start_ns - job.arrival_ns);
  if (queue > 0) return;
  ++answers_empty;
  answers_empty_all_busy += all_busy ? 1 : 0;
}

nlohmann::json raw_statistics(const ServerStatistics& s) {
  return {{"received", s.received},
          {"clones_received", s.clones_received},
          {"clones_dropped", s.clones_dropped},
          {"queue_length", s.queue_length.encode()},
          {"answered", s.answered},
          {"answers_empty", s.answers_empty},
          {"answers_empty_all_busy", s.answers_empty_all_busy},
          {"planned_work_ns", s.planned_work_ns},
          {"work_error_ns", s.work_error_ns.encode()},
          {"fifo_wait_ns", s.fifo_wait_ns.encode()},
          {"busy_slot_ns", s.busy_slot_ns},
          {"cpu_ns", s.cpu_ns},
          {"wait_ns", s.wait_ns},
          {"received_total", s.received_total},
          {"answered_total", s.answered_total},
          {"clones_dropped_total", s.clones_dropped_total},
          {"probes", s.probes},
          {"malformed", s.malformed},
          {"send_errors", s.send_errors},
          {"receive_errors", s.receive_errors},
          {"lost_ns", s.lost_ns},
          {"socket_drops", s.socket_drops},
          {"realtime", s.realtime}};
}

}  // namespace turntable::netclone
