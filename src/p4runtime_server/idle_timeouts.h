// How long entries have not been hit, and which of them primaries are told of (P4Runtime 1.4,
// "Table Idle Timeout Notification").
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/running_program.h"

namespace turntable::p4runtime_server {

bool supports_idle_timeout(const config::Table& table);

// Of a table that supports it, by the names that notes are found by; those alone that have not been
// hit for `least_ns`. Throws CommandError.
std::map<std::string, std::int64_t> idle_times_ns(RunningProgram& program,
                                                  const config::Table& table,
                                                  std::int64_t least_ns);

// Remembers how often the time-out of each entry has run out since the entry was last hit, so that
// each time is told of once. Not thread-safe.
class IdleTimeouts {
 public:
  // For each table whose entries have run out since the last call: these entries, with their key,
  // metadata and time-out. Throws CommandError.
  std::vector<p4::v1::IdleTimeoutNotification> run_out(RunningProgram& program);

 private:
  std::map<std::string, std::int64_t> times_;
};

}  // namespace turntable::p4runtime_server
