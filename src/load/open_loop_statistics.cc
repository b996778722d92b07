#include "load/open_loop_statistics.h"

#include <algorithm>

namespace turntable::load {

void OpenLoopStatistics::merge(const OpenLoopStatistics& other) {
  offered += other.offered;
  delivered += other.delivered;
  seconds.resize(std::max(seconds.size(), other.seconds.size()));
  for (std::size_t i = 0; i < other.seconds.size(); ++i) {
    seconds[i].offered += other.seconds[i].offered;
    seconds[i].delivered += other.seconds[i].delivered;
    seconds[i].latency_sum_ns += other.seconds[i].latency_sum_ns;
    seconds[i].latency_max_ns =
        std::max(seconds[i].latency_max_ns, other.seconds[i].latency_max_ns);
  }
  lost += other.lost;
  unsent += other.unsent;
  withheld += other.withheld;
  redundant_window += other.redundant_window;
  latency_ns.merge(other.latency_ns);
  from_send_ns.merge(other.from_send_ns);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i].merge(other.halves[i]);
  for (std::size_t i = 0; i < over.size(); ++i) over[i].requests += other.over[i].requests;
  send_late_ns.merge(other.send_late_ns);
  read_late_ns.merge(other.read_late_ns);
  requests_total += other.requests_total;
  answers_total += other.answers_total;
  redundant += other.redundant;
  unanswered += other.unanswered;
  given_up += other.given_up;
}

}  // namespace turntable::load
