// The schema of the tables that a switch has whatever its program, with the names and ids of
// Tofino 1: ports, packet replication, mirror sessions, traffic manager, device.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace turntable::bfrt_server {

inline constexpr int kPruneEntries = 288;  // of $pre.prune

// As a bfrt.json. Only tables that are served here are in it.
nlohmann::json fixed_schema();

}  // namespace turntable::bfrt_server
