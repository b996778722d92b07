// The instant at which all clients of a measurement begin together: CLOCK_REALTIME, `start_at_ns`
// of their command `start`.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include "common/clock.h"
#include "common/command_error.h"

namespace turntable::node {

inline constexpr std::int64_t kMaxAheadNs = 600'000'000'000;

// turntable_core.context looks for it in answers.
inline constexpr const char* kWhyLate = "the host is busy, or its clock differs";

inline std::string seconds_text(std::int64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", static_cast<double>(ns) / 1e9);
  return text.data();
}

// Throws for a command that came too late, or much too early. A client may begin late by as much as
// nothing is measured yet. where: the command, for messages.
inline void check_common_start(const std::string& where, std::int64_t start_at_ns,
                               std::int64_t warmup_ns) {
  const std::int64_t now_ns = realtime_ns();
  if (start_at_ns < now_ns - warmup_ns) {
    throw bad_argument(where + ": the command came " + seconds_text(now_ns - start_at_ns) +
                       " after the common start, at most " + seconds_text(warmup_ns) +
                       " (the warm-up) is accepted; " + kWhyLate + " (\"start_at_ns\" is " +
                       std::to_string(start_at_ns) + ")");
  }
  if (start_at_ns > now_ns + kMaxAheadNs) {
    throw bad_argument(where + ": the command came " + seconds_text(start_at_ns - now_ns) +
                       " before the common start, at most " + seconds_text(kMaxAheadNs) +
                       " is accepted; the host's clock differs (\"start_at_ns\" is " +
                       std::to_string(start_at_ns) + ")");
  }
}

}  // namespace turntable::node
