// What the logical clients of one machine send: their traces, cut down to the running partitions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "farreach/kv/popularity.h"
#include "workload/profile.h"
#include "workload/trace.h"

namespace turntable::kv {

// The full traces of clients first .. first + count - 1 of a workload. Kept between iterations,
// because every iteration of a round cuts down the same ones.
class Traces {
 public:
  // Throws CommandError "unavailable" when `cancelled` becomes true.
  Traces(const workload::Workload& workload, unsigned first, unsigned count,
         const std::atomic<bool>& cancelled);

  bool are(const workload::Workload& workload, unsigned first, unsigned count) const;
  std::span<const std::vector<workload::Operation>> all() const { return traces_; }
  // Whether values have the sizes that their operations say.
  bool is_recorded() const { return is_recorded_; }

 private:
  bool is_recorded_;
  nlohmann::json workload_;
  unsigned first_;
  std::vector<std::vector<workload::Operation>> traces_;
};

// One request to send.
struct ReplayOperation {
  workload::KeyId key = 0;
  std::uint16_t running = 0;  // index into the running partitions
  workload::OperationType type : 2 = workload::OperationType::kGet;
  std::uint16_t value_bytes : 14 = 0;          // as workload::Operation has it
  std::uint32_t position = Popularity::kNone;  // of the key, in the first hot list
};
static_assert(sizeof(ReplayOperation) == 16);  // there are hundreds of millions

// For each client the operations whose key belongs to one of the running partitions, in order. Of a
// recorded trace they are all clients' together, in the order of the file: were each client to
// repeat its own few, those whose requests are answered sooner would ask for theirs more often.
class Replay {
 public:
  // `partitions`: distinct and below `scale`. `lists`: hot keys by period; none: they do not
  // change. `begin`: where clients begin in what they replay, as a share of it (0 <= begin < 1):
  // iterations that begin at different places see different pieces of the same traces. Throws
  // bad_argument if a hot key's partition does not run.
  Replay(const Traces& traces, unsigned scale, std::span<const unsigned> partitions,
         const std::vector<std::vector<workload::KeyId>>& lists = {}, double begin = 0);

  std::size_t clients() const { return ends_.size(); }
  std::size_t operations() const { return operations_.size(); }
  // Empty if the client touches none of the running partitions.
  std::span<const ReplayOperation> of(std::size_t client) const;
  // With which of them the client begins.
  std::size_t first(std::size_t client) const;
  // The next of a recorded trace that has any, after the last the first again. Thread-safe.
  const ReplayOperation& take() const noexcept {
    return operations_[taken_.fetch_add(1, std::memory_order_relaxed) % operations_.size()];
  }
  // The operation of a trace as it is sent in this period.
  ReplayOperation now(ReplayOperation operation) const noexcept {
    if (operation.position == Popularity::kNone) return operation;
    const Popularity::Target& target = popularity_->target(operation.position);
    operation.key = target.key;
    operation.running = target.running;
    return operation;
  }
  // Null where hot keys do not change.
  Popularity* popularity() { return popularity_.get(); }

  // Whether the operations say how long values are.
  bool is_recorded() const { return is_recorded_; }
  // Whether an answer's value may have this size. fixed: what values have that are not recorded.
  bool is_size_of(const ReplayOperation& get, std::size_t size, std::size_t fixed) const {
    if (!is_recorded_) return size == fixed;
    return get.value_bytes == 0 || size == get.value_bytes;
  }
  // Of the value that a PUT writes.
  std::uint32_t bytes_of(const ReplayOperation& put, std::uint32_t fixed) const {
    return is_recorded_ ? put.value_bytes : fixed;
  }

  unsigned scale() const { return scale_; }
  const std::vector<unsigned>& partitions() const { return partitions_; }
  // The index of the key's partition among the running ones, or -1.
  int running_index(workload::KeyId key) const {
    return running_of_[workload::partition_of(workload::slot_of(key), scale_)];
  }

 private:
  void add(const workload::Operation& operation);

  bool is_recorded_;
  unsigned scale_;
  double begin_;
  std::vector<unsigned> partitions_;
  std::vector<int> running_of_;  // by partition; -1 is not running
  std::unique_ptr<Popularity> popularity_;
  std::vector<ReplayOperation> operations_;
  std::vector<std::size_t> ends_;  // by client, into operations_
  mutable std::atomic<std::size_t> taken_ = 0;
};

}  // namespace turntable::kv
