// Load from several hosts: a master and its agents share a secret, one schedule and one start.
#pragma once

#include <atomic>

#include "mcload/options.h"
#include "mcload/peak.h"

namespace turntable::mcload {

// Serves masters until it is cancelled; the program's exit status.
int serve_as_agent(const Options& options, const std::atomic<bool>& cancelled);

// Plays measurements here and on options.agents together; what they measured is one.
Play play_with_agents(const Options& options, const std::atomic<bool>& cancelled);

}  // namespace turntable::mcload
