// The lock of a file that one process alone may change. A server's recovery writes into its log,
// and a metadata service replaces its state: beside another process that lives they would destroy
// what that one has committed.
#pragma once

#include <string>

#include "common/unique_fd.h"

namespace turntable::shadowfax {

// The flock(2) of a file, which is made if it is not there: the kernel gives it back however its
// holder ends. Waits up to 5 s for what is left of one that was killed; throws std::system_error
// if somebody else has the lock then. what: of the message, "the log of a server".
UniqueFd lock_as_owner(const std::string& path, const std::string& what);

}  // namespace turntable::shadowfax
