// Zones: how little must be known of a register's history to tell whether it is linearizable.
//
// A cluster is one write and the reads that returned it. If every read can be assigned to its
// write, the history of a register is linearizable exactly if no read ends before its write begins,
// and no two clusters would each have to precede the other (Gibbons and Korach, "Testing Shared
// Memories", SIAM J. Comput. 26(4), 1997, section 4). Cluster A must precede B if an operation of A
// ends before one of B begins, that is if A.first_end < B.last_begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace turntable::history {

struct Zone {
  std::int64_t first_end;   // the earliest end of the cluster's operations
  std::int64_t last_begin;  // the latest beginning

  // All operations overlap in no instant: at every time in between the register held this value.
  bool is_forward() const { return first_end < last_begin; }
};

// Two zones that would each have to precede the other, as indexes into `zones`; O(n log n).
std::optional<std::pair<std::size_t, std::size_t>> find_conflict(std::span<const Zone> zones);

}  // namespace turntable::history
