// Cells of counters, meters and registers.
#pragma once

#include "p4runtime_server/table_entries.h"

namespace turntable::p4runtime_server {

// Throw Refusal.
SwitchUpdate write_counter(const ProgramInfo& info, p4::v1::Update::Type type,
                           const p4::v1::CounterEntry& entry);
SwitchUpdate write_meter(const ProgramInfo& info, p4::v1::Update::Type type,
                         const p4::v1::MeterEntry& entry);
SwitchUpdate write_register(const ProgramInfo& info, p4::v1::Update::Type type,
                            const p4::v1::RegisterEntry& entry);

void read_counters(RunningProgram& program, const p4::v1::CounterEntry& wanted,
                   const Entities& found);
void read_meters(RunningProgram& program, const p4::v1::MeterEntry& wanted, const Entities& found);
void read_registers(RunningProgram& program, const p4::v1::RegisterEntry& wanted,
                    const Entities& found);

}  // namespace turntable::p4runtime_server
