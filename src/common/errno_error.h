// Turns errno into an exception that says what was attempted.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace turntable {

// `what` names the operation and its object, for instance "cannot open /run/x/y.log".
inline std::system_error errno_error(const std::string& what, int error = errno) {
  return std::system_error(error, std::generic_category(), what);
}

}  // namespace turntable
