// The commands tm_write, tm_read and tm_clear of the traffic manager, docs/architecture.md §5.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "softswitch/port.h"
#include "softswitch/traffic_manager.h"

namespace turntable::softswitch {

// The pipeline thread only. Both throw CommandError; a refused tm_write changes nothing.
nlohmann::json write_traffic_manager(TrafficManager& manager, const PortTable& ports,
                                     const nlohmann::json& args, std::uint64_t now_ns);
nlohmann::json read_traffic_manager(const TrafficManager& manager, const PortTable& ports,
                                    const nlohmann::json& args);

}  // namespace turntable::softswitch
