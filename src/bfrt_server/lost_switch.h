// Codes of CommandErrors that are of a whole call: the switch did not answer, or runs another
// program than the one that the call is about.
#pragma once

#include <string>

namespace turntable::bfrt_server {

inline bool is_lost(const std::string& code) {
  return code == "unavailable" || code == "timeout" || code == "program_changed";
}

}  // namespace turntable::bfrt_server
