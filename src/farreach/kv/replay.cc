#include "farreach/kv/replay.h"

#include <algorithm>

#include "common/command_error.h"
#include "workload/recorded_reader.h"

namespace turntable::kv {
namespace {

constexpr std::uint32_t kMostBytes = (1U << 14) - 1;  // that ReplayOperation can say
static_assert(workload::kLongestRecordedValue <= kMostBytes);

}  // namespace

Traces::Traces(const workload::Workload& workload, unsigned first, unsigned count,
               const std::atomic<bool>& cancelled)
    : is_recorded_(workload.recorded != nullptr),
      workload_(workload::workload_to_json(workload)),
      first_(first) {
  traces_.reserve(count);
  workload::for_each_trace(
      workload, first, count, [&](unsigned, std::vector<workload::Operation>&& trace) {
        if (cancelled) {
          throw CommandError("unavailable", "generating traces was cancelled: the node is ending");
        }
        traces_.push_back(std::move(trace));
      });
}

bool Traces::are(const workload::Workload& workload, unsigned first, unsigned count) const {
  return first == first_ && count == traces_.size() &&
         workload::workload_to_json(workload) == workload_;
}

Replay::Replay(const Traces& traces, unsigned scale, std::span<const unsigned> partitions,
               const std::vector<std::vector<workload::KeyId>>& lists, double begin)
    : is_recorded_(traces.is_recorded()),
      scale_(scale),
      begin_(begin),
      partitions_(partitions.begin(), partitions.end()),
      running_of_(scale, -1) {
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    running_of_[partitions[i]] = static_cast<int>(i);
  }
  if (!lists.empty()) {
    popularity_ = std::make_unique<Popularity>(
        lists, [this](workload::KeyId key) { return running_index(key); });
  }
  std::size_t all = 0, longest = 0;
  for (const auto& trace : traces.all()) {
    all += trace.size();
    longest = std::max(longest, trace.size());
  }
  operations_.reserve(all);  // what is not used is never touched
  if (is_recorded_) {
    for (std::size_t turn = 0; turn < longest; ++turn) {
      for (const auto& trace : traces.all()) {
        if (turn < trace.size()) add(trace[turn]);
      }
    }
    ends_.assign(traces.all().size(), operations_.size());
    taken_ = first(0);
    return;
  }
  for (const auto& trace : traces.all()) {
    for (const workload::Operation& operation : trace) add(operation);
    ends_.push_back(operations_.size());
  }
}

void Replay::add(const workload::Operation& operation) {
  const int running = running_of_[workload::partition_of(operation.slot, scale_)];
  if (running < 0) return;
  ReplayOperation& added = operations_.emplace_back();
  added.key = operation.key;
  added.running = static_cast<std::uint16_t>(running);
  added.type = operation.type;
  added.value_bytes = operation.value_bytes & kMostBytes;
  if (!popularity_) return;
  added.position = popularity_->position(operation.key);
  // Values of other keys' sizes are put under those that become hot.
  if (operation.type == workload::OperationType::kGet) added.value_bytes = 0;
}

std::span<const ReplayOperation> Replay::of(std::size_t client) const {
  const std::size_t begin = client == 0 || is_recorded_ ? 0 : ends_[client - 1];
  return std::span(operations_).subspan(begin, ends_[client] - begin);
}

std::size_t Replay::first(std::size_t client) const {
  return static_cast<std::size_t>(begin_ * static_cast<double>(of(client).size()));
}

}  // namespace turntable::kv
