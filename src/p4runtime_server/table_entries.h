// Entries of tables.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/running_program.h"

namespace turntable::p4runtime_server {

// What an update asks of softswitch, and what is remembered once it has been done.
// NOLINTNEXTLINE(bugprone-exception-escape): JSON's null throws nothing
struct SwitchUpdate {
  nlohmann::json update;  // an element of table_write's "updates"; an array: all of them, or none
  std::function<void()> done = [] {};
  // Not empty: it depends on what is there, so that a batch that is all or nothing may have one
  // update of this name.
  std::string once = {};
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
