// Cells of counters, meters and registers.
#pragma once

#include "p4runtime_server/table_entries.h"

namespace turntable::p4runtime_server {

// Throw Refusal and CommandError.
void write_counter(RunningProgram& program, p4::v1::Update::Type type,
                   const p4::v1::CounterEntry& entry);
void write_meter(RunningProgram& program, p4::v1::Update::Type type,
                 const p4::v1::MeterEntry& entry);
void write_register(RunningProgram& program, p4::v1::Update::Type type,
                    const p4::v1::RegisterEntry& entry);

void read_counters(RunningProgram& program, const p4::v1::CounterEntry& wanted,
                   const Entities& found);
void read_meters(RunningProgram& program, const p4::v1::MeterEntry& wanted, const Entities& found);
void read_registers(RunningProgram& program, const p4::v1::RegisterEntry& wanted,
                    const Entities& found);

}  // namespace turntable::p4runtime_server
