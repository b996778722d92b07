// The raw statistics of one client machine and iteration, as JSON: docs/raw-format.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "farreach/kv/client_statistics.h"
#include "farreach/kv/replay.h"
#include "load/thread_frame.h"

namespace turntable::kv {

struct MachineStatistics {
  const Replay& replay;
  const ClientStatistics& sum;  // of all threads
  std::span<const load::ThreadTiming> threads;
  std::uint32_t socket_drops;
  std::vector<unsigned> idle_clients;
  bool complete;  // false: stopped before the end of the window
};

nlohmann::json raw_statistics(const MachineStatistics& machine);

}  // namespace turntable::kv
