// The lock of a server's log. Recovery writes into the log: beside a server that lives it would
// destroy what that one has committed.
#pragma once

#include <string>

#include "common/unique_fd.h"

namespace turntable::shadowfax {

// The flock(2) of a file, which is made if it is not there: the kernel gives it back however its
// holder ends. Waits up to 5 s for what is left of one that was killed; throws std::system_error
// if somebody else has the lock then.
UniqueFd lock_log(const std::string& path);

}  // namespace turntable::shadowfax
