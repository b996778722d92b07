// What an earlier supervisor of this host left behind when it was killed: the kernel ends its nodes
// then, but not the processes that the nodes had started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/deadline.h"
#include "node/node_keeper.h"

namespace turntable::node {

// Kills every process whose environment names this testbed, host and run directory, and returns a
// text per process ("pid 17: sleep 600"). The caller holds the directory's HostLock and has started
// nothing yet, so whatever is found has no living supervisor. Throws std::runtime_error when one
// still runs at the deadline.
std::vector<std::string> end_leftovers(const HostIdentity& identity,
                                       const std::filesystem::path& directory, Deadline deadline);

}  // namespace turntable::node
