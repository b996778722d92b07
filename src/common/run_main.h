// The outermost frame of a program.
#pragma once

#include <cstdio>
#include <exception>

namespace turntable {

// Returns what `body` returns. An exception ends the program with its message, not with a core
// dump.
template <typename Body>
int run_main(const char* program, const Body& body, int failure_status = 1) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
  } catch (...) {
    std::fprintf(stderr, "%s: failed for an unknown reason\n", program);
  }
  return failure_status;
}

}  // namespace turntable
