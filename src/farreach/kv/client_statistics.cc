#include "farreach/kv/client_statistics.h"

#include <algorithm>

namespace turntable::kv {

void PartitionStatistics::merge(const PartitionStatistics& other) {
  server_ops += other.server_ops;
  switch_ops += other.switch_ops;
  server_latency_ns.merge(other.server_latency_ns);
  switch_latency_ns.merge(other.switch_latency_ns);
  requests_total += other.requests_total;
  answers_total += other.answers_total;
}

void SecondStatistics::merge(const SecondStatistics& other) {
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    PartitionSecond& mine = partitions[i];
    const PartitionSecond& theirs = other.partitions[i];
    mine.server_ops += theirs.server_ops;
    mine.switch_ops += theirs.switch_ops;
    mine.latency_sum_ns += theirs.latency_sum_ns;
    mine.latency_max_ns = std::max(mine.latency_max_ns, theirs.latency_max_ns);
  }
  retries += other.retries;
}

ClientStatistics::ClientStatistics(std::size_t running_partitions, std::size_t window_seconds)
    : partitions(running_partitions), seconds(window_seconds) {
  for (SecondStatistics& second : seconds) second.partitions.resize(running_partitions);
}

void ClientStatistics::merge(const ClientStatistics& other) {
  for (std::size_t i = 0; i < partitions.size(); ++i) partitions[i].merge(other.partitions[i]);
  for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i].merge(other.seconds[i]);
  timeouts += other.timeouts;
  retries += other.retries;
  stale_answers += other.stale_answers;
  malformed += other.malformed;
  mismatched += other.mismatched;
  wrong_node += other.wrong_node;
  wrong_values += other.wrong_values;
  not_found += other.not_found;
  send_errors += other.send_errors;
  receive_errors += other.receive_errors;
  in_flight_at_stop += other.in_flight_at_stop;
  answered_in_drain += other.answered_in_drain;
  unanswered += other.unanswered;
}

}  // namespace turntable::kv
