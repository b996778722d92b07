// "open_loop" of kvclient's raw statistics, as JSON: docs/raw-format.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "farreach/kv/open_client.h"
#include "farreach/kv/replay.h"

namespace turntable::kv {

// Sums over the threads of a machine, at least one.
nlohmann::json open_raw_statistics(const Replay& replay,
                                   std::span<const OpenClient* const> threads);

}  // namespace turntable::kv
