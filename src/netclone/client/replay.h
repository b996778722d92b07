// The iteration again as a simulation, with the very draws of its clients and servers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "load/schedule.h"
#include "netclone/client/credit_delays.h"
#include "netclone/client/path_probe.h"
#include "netclone/client/plan.h"

namespace turntable::netclone {

// Of all clients, those of other hosts too. Throws CommandError if `plan` says nothing of the
// servers' work; `where` begins messages.
nlohmann::json replay_iteration(const std::string& where, const Plan& plan,
                                const load::Schedule& schedule, const PathDelay& path,
                                const CreditDelays& credit_delays);

}  // namespace turntable::netclone
