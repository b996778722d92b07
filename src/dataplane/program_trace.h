// What a program compiled for tracing tells of a packet (program.h, Program::trace).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace turntable::dataplane {

class ProgramTrace {
 public:
  virtual ~ProgramTrace() = default;

  // Records from now on: one call of Program::ingress or Program::egress.
  virtual void begin() = 0;

  // Ends that. An array of events in the order they happened; docs/p4soft.md, "Traces", lists them.
  virtual nlohmann::ordered_json take() = 0;
};

}  // namespace turntable::dataplane
