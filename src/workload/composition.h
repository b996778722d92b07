// What the traces of a workload really contain, as opposed to what their distribution promises.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/key.h"
#include "workload/profile.h"
#include "workload/trace.h"

namespace turntable::workload {

// Per slot; the counts are whole numbers.
struct TraceComposition {
  std::vector<double> reads = std::vector<double>(kSlots);
  std::vector<double> writes = std::vector<double>(kSlots);
  std::vector<double> cached = std::vector<double>(kSlots);  // reads and writes of cached keys
  std::vector<double> cached_reads = std::vector<double>(kSlots);
  std::vector<double> distinct_keys = std::vector<double>(kSlots);

  std::vector<double> requests() const;
};

// Counts all clients' traces, for which they are generated. A recorded one is only streamed, but
// for `visit`. Throws bad_argument as generate_trace does.
TraceComposition compose_traces(const Workload& workload, const std::vector<KeyId>& cached,
                                const TraceVisitor& visit = nullptr);

}  // namespace turntable::workload
