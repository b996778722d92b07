#include "farreach/kv/replay.h"

#include "common/command_error.h"

namespace turntable::kv {

Traces::Traces(const workload::Workload& workload, unsigned first, unsigned count,
               const std::atomic<bool>& cancelled)
    : workload_(workload::workload_to_json(workload)), first_(first) {
  traces_.reserve(count);
  for (unsigned client = first; client < first + count; ++client) {
    if (cancelled) {
      throw CommandError("unavailable", "generating traces was cancelled: the node is ending");
    }
    traces_.push_back(workload::generate_trace(workload, client));
  }
}

bool Traces::are(const workload::Workload& workload, unsigned first, unsigned count) const {
  return first == first_ && count == traces_.size() &&
         workload::workload_to_json(workload) == workload_;
}

Replay::Replay(const Traces& traces, unsigned scale, std::span<const unsigned> partitions)
    : scale_(scale), partitions_(partitions.begin(), partitions.end()), running_of_(scale, -1) {
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    running_of_[partitions[i]] = static_cast<int>(i);
  }
  std::size_t most = 0;
  for (const auto& trace : traces.all()) most += trace.size();
  operations_.reserve(most);  // what is not used is never touched
  for (const auto& trace : traces.all()) {
    for (const workload::Operation& operation : trace) {
      const int running = running_of_[workload::partition_of(operation.slot, scale)];
      if (running < 0) continue;
      operations_.push_back({operation.key, static_cast<std::uint16_t>(running), operation.type});
    }
    ends_.push_back(operations_.size());
  }
}

std::span<const ReplayOperation> Replay::of(std::size_t client) const {
  const std::size_t begin = client == 0 ? 0 : ends_[client - 1];
  return std::span(operations_).subspan(begin, ends_[client] - begin);
}

}  // namespace turntable::kv
