// Entries of tables, and their direct counters.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/running_program.h"

namespace turntable::p4runtime_server {

// What an update asks of softswitch: an element of table_write's "updates"; and what is remembered
// once it has been done.
struct SwitchUpdate {
  nlohmann::json update;
  std::function<void()> done = [] {};
};

using Entities = std::function<void(p4::v1::Entity&&)>;

// Throw Refusal.
SwitchUpdate write_table_entry(RunningProgram& program, p4::v1::Update::Type type,
                               const p4::v1::TableEntry& entry);
SwitchUpdate write_direct_counter(RunningProgram& program, p4::v1::Update::Type type,
                                  const p4::v1::DirectCounterEntry& entry);

// Give all that `wanted` asks for to `found`.
void read_table_entries(RunningProgram& program, const p4::v1::TableEntry& wanted,
                        const Entities& found);
void read_direct_counters(RunningProgram& program, const p4::v1::DirectCounterEntry& wanted,
                          const Entities& found);

}  // namespace turntable::p4runtime_server
