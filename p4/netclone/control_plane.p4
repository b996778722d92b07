// What the other side of the control plane knows by number: turntable_systems.netclone.p4_numbers reads it here.
#include "../shared/sizes.p4"
#include "sizes.p4"
#include "outcome_numbers.p4"
