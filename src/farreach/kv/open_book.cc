#include "farreach/kv/open_book.h"

#include <algorithm>

#include "common/clock.h"

namespace turntable::kv {
namespace {}  // namespace

void OpenPartition::merge(const OpenPartition& other) {
  offered += other.offered;
  from_send_ns.merge(other.from_send_ns);
  server_path_ns.merge(other.server_path_ns);
  switch_path_ns.merge(other.switch_path_ns);
}

void OpenBook::set_schedule(const load::Schedule& schedule) {
  schedule_ = schedule;
  const auto seconds = static_cast<std::size_t>((schedule.window_ns() + kSecondNs - 1) / kSecondNs);
  statistics = ClientStatistics(open.size(), seconds);
}

void OpenBook::answered(std::size_t running, bool by_switch,
                        const load::OpenLoop::Counted& answer) noexcept {
  ++statistics.partitions[running].answers_total;
  if (answer.answer == load::OpenLoop::Answer::kRedundant) {
    ++statistics.stale_answers;
    return;
  }
  answers.add();
  count_latency(running, by_switch, answer);
  count_delivery(running, by_switch, answer);
}

void OpenBook::count_latency(std::size_t running, bool by_switch,
                             const load::OpenLoop::Counted& answer) noexcept {
  const std::int64_t latency_ns = answer.arrived_ns - answer.intended_ns;
  if (answer.number < probes_) {
    OpenPartition& here = open[running];
    (by_switch ? here.switch_path_ns : here.server_path_ns).record(latency_ns);
  }
  if (!schedule_.in_window(answer.intended_ns)) return;
  open[running].from_send_ns.record(answer.arrived_ns - answer.sent_ns);
  PartitionStatistics& here = statistics.partitions[running];
  (by_switch ? here.switch_latency_ns : here.server_latency_ns).record(latency_ns);
}

void OpenBook::count_delivery(std::size_t running, bool by_switch,
                              const load::OpenLoop::Counted& answer) noexcept {
  if (answer.arrived_ns >= schedule_.window_until_ns) ++statistics.answered_in_drain;
  if (!schedule_.in_window(answer.arrived_ns)) return;
  const std::int64_t latency_ns = answer.arrived_ns - answer.intended_ns;
  PartitionStatistics& here = statistics.partitions[running];
  PartitionSecond& second = statistics
                                .seconds[static_cast<std::size_t>(
                                    (answer.arrived_ns - schedule_.window_from_ns) / kSecondNs)]
                                .partitions[running];
  ++(by_switch ? here.switch_ops : here.server_ops);
  ++(by_switch ? second.switch_ops : second.server_ops);
  second.latency_sum_ns += latency_ns;
  second.latency_max_ns = std::max(second.latency_max_ns, latency_ns);
}

void OpenBook::end(const load::OpenLoopStatistics& loop) noexcept {
  statistics.unanswered = loop.unanswered;
  statistics.in_flight_at_stop = statistics.answered_in_drain + loop.unanswered;
}

}  // namespace turntable::kv
