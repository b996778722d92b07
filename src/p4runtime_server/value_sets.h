// Parsers' value sets.
#pragma once

#include "p4runtime_server/table_entries.h"

namespace turntable::p4runtime_server {

// Throws Refusal.
SwitchUpdate write_value_set(const ProgramInfo& info, p4::v1::Update::Type type,
                             const p4::v1::ValueSetEntry& entry);

void read_value_sets(RunningProgram& program, const p4::v1::ValueSetEntry& wanted,
                     const Entities& found);

}  // namespace turntable::p4runtime_server
