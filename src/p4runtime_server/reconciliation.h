// What this server remembers of entities has to have its place in another program, too, where their
// state is kept (RECONCILE_AND_COMMIT); softswitch looks after the state itself.
#pragma once

#include <string>

#include "p4runtime_server/refusal.h"
#include "p4runtime_server/running_program.h"

namespace turntable::p4runtime_server {

// `next`: the other program's P4Info. Throws Refusal INVALID_ARGUMENT for an object of the same
// name with another id, an entry with an idle time-out in a table that has none any more, and a
// digest that clients are sent and that is not there any more, or is of another type.
void check_reconcilable(const RunningProgram& program, const config::P4Info& next);

// A reason for which state is not kept.
Refusal not_reconcilable(const std::string& reason);

}  // namespace turntable::p4runtime_server
