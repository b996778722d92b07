// Results on standard output, which may be a file on a full disk.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace turntable {

// Throws if not all of it arrived.
inline void print_result(const std::string& text) {
  errno = 0;
  const bool is_written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!is_written) {
    throw std::runtime_error(std::string("standard output: ") + std::strerror(errno) +
                             "; the result is incomplete");
  }
}

}  // namespace turntable
