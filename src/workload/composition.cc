#include "workload/composition.h"

#include <algorithm>

#include "workload/recorded_trace.h"

namespace turntable::workload {
namespace {

void sort_unique(std::vector<KeyId>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

TraceComposition compose_recorded(const RecordedTrace& recorded,
                                  const std::vector<KeyId>& cached_keys) {
  TraceComposition composition;
  for (const auto& [key, counts] : recorded.keys()) {
    const std::uint16_t slot = slot_of(key);
    composition.reads[slot] += static_cast<double>(counts.reads);
    composition.writes[slot] += static_cast<double>(counts.requests - counts.reads);
    ++composition.distinct_keys[slot];
    if (!std::binary_search(cached_keys.begin(), cached_keys.end(), key)) continue;
    composition.cached[slot] += static_cast<double>(counts.requests);
    composition.cached_reads[slot] += static_cast<double>(counts.reads);
  }
  return composition;
}

}  // namespace

std::vector<double> TraceComposition::requests() const {
  std::vector<double> sum = reads;
  for (unsigned slot = 0; slot < kSlots; ++slot) sum[slot] += writes[slot];
  return sum;
}

TraceComposition compose_traces(const Workload& workload, const std::vector<KeyId>& cached,
                                const TraceVisitor& visit) {
  std::vector<KeyId> cached_keys = cached;
  sort_unique(cached_keys);
  if (workload.recorded) {
    if (visit) for_each_trace(workload, 0, workload.clients, visit);
    return compose_recorded(*workload.recorded, cached_keys);
  }
  TraceComposition composition;
  std::vector<KeyId> touched;
  for_each_trace(workload, 0, workload.clients, [&](unsigned client, std::vector<Operation> trace) {
    for (const Operation& operation : trace) {
      const bool read = operation.type == OperationType::kGet;
      ++(read ? composition.reads : composition.writes)[operation.slot];
      touched.push_back(operation.key);
      if (std::binary_search(cached_keys.begin(), cached_keys.end(), operation.key)) {
        ++composition.cached[operation.slot];
        if (read) ++composition.cached_reads[operation.slot];
      }
    }
    if (visit) visit(client, std::move(trace));
  });
  sort_unique(touched);
  for (const KeyId key : touched) ++composition.distinct_keys[slot_of(key)];
  return composition;
}

}  // namespace turntable::workload
