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

struct IdleTime {
  std::int64_t ns = 0;            // without a hit
  std::uint64_t last_hit_ns = 0;  // by softswitch's clock
};

// Of a table that supports it, by the names that notes are found by; those alone that have not been
// hit for `least_ns`. Throws CommandError.
std::map<std::string, IdleTime> idle_times(RunningProgram& program, const config::Table& table,
                                           std::int64_t least_ns);

// How often the time-out of each entry has run out since its last hit, so that each time is told of
// once. Apart from the switch and from time. Not thread-safe.
class RunOuts {
 public:
  // Whether the entry has run out since the last look that found it so, or since a hit after that.
  bool add(const std::string& entry, const IdleTime& idle, std::int64_t timeout_ns);
  // A look ends: entries that were not added since the one before are forgotten.
  void end_look();

 private:
  struct RunOut {
    std::uint64_t last_hit_ns;
    std::int64_t times;
  };
  std::map<std::string, RunOut> before_;
  std::map<std::string, RunOut> now_;
};

// Not thread-safe.
class IdleTimeouts {
 public:
  // For each table whose entries have run out since the last call: these entries, with their key,
  // metadata and time-out. Throws CommandError.
  std::vector<p4::v1::IdleTimeoutNotification> run_out(RunningProgram& program);

 private:
  RunOuts run_outs_;
};

}  // namespace turntable::p4runtime_server
