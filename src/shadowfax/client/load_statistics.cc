#include "shadowfax/client/load_statistics.h"

#include <algorithm>

namespace turntable::shadowfax {

void LoadStatistics::merge(const LoadStatistics& other) {
  reads += other.reads;
  upserts += other.upserts;
  adds += other.adds;
  not_found += other.not_found;
  pending += other.pending;
  batches += other.batches;
  refused_batches += other.refused_batches;
  failed_total += other.failed_total;
  if (failed_why.empty()) failed_why = other.failed_why;
  wrong_values_total += other.wrong_values_total;
  round_trip_ns.merge(other.round_trip_ns);
  adds_issued_total += other.adds_issued_total;
  adds_acknowledged_total += other.adds_acknowledged_total;
  unanswered_total += other.unanswered_total;
  unreplayed_total += other.unreplayed_total;
  lost_sessions += other.lost_sessions;
  if (lost_why.empty()) lost_why = other.lost_why;
  silent_ns = std::max(silent_ns, other.silent_ns);
  samples.resize(std::max(samples.size(), other.samples.size()));
  for (std::size_t i = 0; i < other.samples.size(); ++i) {
    LoadSample& sample = samples[i];
    const LoadSample& added = other.samples[i];
    sample.operations += added.operations;
    sample.pending += added.pending;
    sample.refused_batches += added.refused_batches;
    sample.by_server.resize(std::max(sample.by_server.size(), added.by_server.size()));
    for (std::size_t server = 0; server < added.by_server.size(); ++server)
      sample.by_server[server] += added.by_server[server];
  }
}

}  // namespace turntable::shadowfax
