// The raw statistics of the clients of one host and iteration, as JSON: docs/netclone.md §6.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "load/open_loop_thread.h"
#include "netclone/client/codec.h"

namespace turntable::netclone {

struct ClientResult {
  std::uint16_t index;
  const load::OpenLoopThread<Codec>& thread;
};

// At least one client. complete: false if they were stopped before the end of the drain.
nlohmann::json raw_statistics(std::span<const ClientResult> clients, const load::Schedule& schedule,
                              bool complete);

}  // namespace turntable::netclone
