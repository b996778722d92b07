// flock(2) of an open file: the kernel gives it back however its holder ends.
#pragma once

#include <sys/file.h>

#include <cerrno>
#include <string>

#include "common/errno_error.h"
#include "common/unique_fd.h"

namespace turntable {

// operation: LOCK_EX or LOCK_SH. False: somebody else has it. Throws std::system_error, which names
// `path`.
inline bool lock_at_once(const UniqueFd& file, int operation, const std::string& path) {
  if (::flock(file.get(), operation | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK) throw errno_error("cannot lock " + path);
  return false;
}

}  // namespace turntable
