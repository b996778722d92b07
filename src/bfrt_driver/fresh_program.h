// The program of a switch that several runs use one after the other.
#pragma once

#include "bfrt_driver/switch_calls.h"

namespace turntable::bfrt_driver {

// Leaves the program as a switch has it that has just started: tables with their const entries and
// the program's own default ones, registers with their initial values, counters at zero, meters
// without limits; and the switch without multicast groups and mirror sessions. Ports and the
// traffic manager keep what they are set to. Throws CommandError for what the switch refuses; all
// else is cleared then.
void make_fresh(SwitchCalls& calls);

}  // namespace turntable::bfrt_driver
