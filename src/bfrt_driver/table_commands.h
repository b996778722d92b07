// The commands of the control protocol about tables, counters, registers and meters
// (docs/p4soft.md, The control plane), at a switch that speaks BF Runtime. Arguments and answers
// are those of softswitch.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bfrt_driver/counts_since.h"
#include "bfrt_driver/switch_calls.h"

namespace turntable::bfrt_driver {

// `since`: what counts beside entries were when they were cleared.
nlohmann::json table_write(SwitchCalls& calls, const nlohmann::json& args, CountsSince& since);
nlohmann::json table_read(SwitchCalls& calls, const nlohmann::json& args, const CountsSince& since);
nlohmann::json table_info(SwitchCalls& calls, const nlohmann::json& args);

// Counts of hardware. Without "table", counter_clear is about all counters of the program.
nlohmann::json counter_read(SwitchCalls& calls, const nlohmann::json& args,
                            const CountsSince& since);
nlohmann::json counter_clear(SwitchCalls& calls, const nlohmann::json& args, CountsSince& since);

// A register is there once in each pipe, and its cells have a value in each. Writes go to all
// pipes; a read answers the values of pipe `pipe`, the one where the experiment's ports are, or the
// only one that the switch gives. Throws CommandError wrong_state where the switch has no such
// pipe.
nlohmann::json register_read(SwitchCalls& calls, const nlohmann::json& args, std::size_t pipe);
nlohmann::json register_write(SwitchCalls& calls, const nlohmann::json& args);
nlohmann::json register_clear(SwitchCalls& calls, const nlohmann::json& args);

nlohmann::json meter_write(SwitchCalls& calls, const nlohmann::json& args);
nlohmann::json meter_read(SwitchCalls& calls, const nlohmann::json& args);

}  // namespace turntable::bfrt_driver
