// What the other side of the control plane knows by number. p4soft.constants makes of it the C++ header p4/control_plane.h and Python's
// turntable_systems.farreach.p4_numbers, so these numbers are written down here alone.
#include "sizes.p4"
#include "cache/outcome_numbers.p4"
