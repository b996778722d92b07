#include "workload/composition.h"

#include <algorithm>

namespace turntable::workload {
namespace {

void sort_unique(std::vector<KeyId>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
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
  TraceComposition composition;
  std::vector<KeyId> touched;
  for (unsigned client = 0; client < workload.clients; ++client) {
    const std::vector<Operation> trace = generate_trace(workload, client);
    for (const Operation& operation : trace) {
      const bool read = operation.type == OperationType::kGet;
      ++(read ? composition.reads : composition.writes)[operation.slot];
      touched.push_back(operation.key);
      if (std::binary_search(cached_keys.begin(), cached_keys.end(), operation.key)) {
        ++composition.cached[operation.slot];
      }
    }
    if (visit) visit(client, trace);
  }
  sort_unique(touched);
  for (const KeyId key : touched) ++composition.distinct_keys[slot_of(key)];
  return composition;
}

}  // namespace turntable::workload
