// The commands of the control protocol about ports and the traffic manager (architecture.md §5), at
// a switch that speaks BF Runtime: its tables $PORT, $PORT_STAT and tf1.tm.*.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bfrt_driver/switch_calls.h"

namespace turntable::bfrt_driver {

// Each port with its link, name and counts; of drops, those that ports count.
nlohmann::json port_stats(SwitchCalls& calls);
nlohmann::json port_stats_clear(SwitchCalls& calls);
// {"port", "interface", "link"} of each.
nlohmann::json ports_of(SwitchCalls& calls);

// Rates of ports and queues, and limits of queues. What a Tofino has no counterpart for (delays, a
// limit of all queues together) is refused.
nlohmann::json tm_write(SwitchCalls& calls, const nlohmann::json& args);
nlohmann::json tm_read(SwitchCalls& calls, const nlohmann::json& args);
nlohmann::json tm_clear(SwitchCalls& calls);

}  // namespace turntable::bfrt_driver
