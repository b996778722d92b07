// The finite, reproducible request stream of one logical client.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "workload/key.h"
#include "workload/profile.h"

namespace turntable::workload {

enum class OperationType : std::uint8_t { kGet, kPut, kDelete };

struct Operation {
  KeyId key;
  std::uint16_t slot;  // slot_of(key)
  OperationType type;
  // Of recorded traces: what a PUT writes, and what a GET must find; 0: anything. Of others 0: the
  // workload's size.
  std::uint32_t value_bytes = 0;

  friend bool operator==(const Operation&, const Operation&) = default;
};

// How many operations client `client` of the workload replays: operations / clients, the first
// clients one more where that leaves a remainder.
std::uint64_t trace_length(const Workload& workload, unsigned client);

// The trace of client 0 <= `client` < workload.clients. It depends on the workload, (seed, round,
// client) and nothing else. Updates and inserts are PUTs; a read-modify-write is a GET and a PUT of
// the same key (only the GET where the trace ends between them).
//
// Clients are independent: they insert disjoint key numbers (client, client + clients, ... above
// the existing records; the load phase wraps at `records`), and each sees the shared insert counter
// as it stands when all clients advance in step. Throws bad_argument as check_runnable does, and
// for a client out of range.
std::vector<Operation> generate_trace(const Workload& workload, unsigned client);

// Sees clients' traces once, in the order of the clients.
using TraceVisitor = std::function<void(unsigned client, std::vector<Operation>&& trace)>;

// The traces of clients first .. first + count - 1, generated or read (workload.recorded); of a
// file all are in memory at once, by their operations. Throws as generate_trace does, and what
// `visit` throws.
void for_each_trace(const Workload& workload, unsigned first, unsigned count,
                    const TraceVisitor& visit);

}  // namespace turntable::workload
