// What the logical clients of one machine send: their traces, cut down to the running partitions.
#pragma once

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

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

 private:
  nlohmann::json workload_;
  unsigned first_;
  std::vector<std::vector<workload::Operation>> traces_;
};

// One request to send.
struct ReplayOperation {
  workload::KeyId key;
  std::uint16_t running;  // index into the running partitions
  workload::OperationType type;
};

// For each client the operations whose key belongs to one of the running partitions, in order.
class Replay {
 public:
  // `partitions`: distinct and below `scale`.
  Replay(const Traces& traces, unsigned scale, std::span<const unsigned> partitions);

  std::size_t clients() const { return ends_.size(); }
  std::size_t operations() const { return operations_.size(); }
  // Empty if the client touches none of the running partitions.
  std::span<const ReplayOperation> of(std::size_t client) const;

  unsigned scale() const { return scale_; }
  const std::vector<unsigned>& partitions() const { return partitions_; }
  // The index of the key's partition among the running ones, or -1.
  int running_index(workload::KeyId key) const {
    return running_of_[workload::partition_of(workload::slot_of(key), scale_)];
  }

 private:
  unsigned scale_;
  std::vector<unsigned> partitions_;
  std::vector<int> running_of_;  // by partition; -1 is not running
  std::vector<ReplayOperation> operations_;
  std::vector<std::size_t> ends_;  // by client, into operations_
};

}  // namespace turntable::kv
