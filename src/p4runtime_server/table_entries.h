// Entries of tables.
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

// Throws Refusal.
SwitchUpdate write_table_entry(RunningProgram& program, p4::v1::Update::Type type,
                               const p4::v1::TableEntry& entry);

// Each entry that `wanted` asks for, with the counter and the meter that it asks for.
void each_entry(RunningProgram& program, const p4::v1::TableEntry& wanted,
                const std::function<void(p4::v1::TableEntry&&)>& each);
void read_table_entries(RunningProgram& program, const p4::v1::TableEntry& wanted,
                        const Entities& found);

}  // namespace turntable::p4runtime_server
