// The counters and meters of tables' entries, for themselves: DirectCounterEntry and
// DirectMeterEntry.
#pragma once

#include "p4runtime_server/table_entries.h"

namespace turntable::p4runtime_server {

// Throw Refusal.
SwitchUpdate write_direct_counter(RunningProgram& program, p4::v1::Update::Type type,
                                  const p4::v1::DirectCounterEntry& entry);
SwitchUpdate write_direct_meter(RunningProgram& program, p4::v1::Update::Type type,
                                const p4::v1::DirectMeterEntry& entry);

void read_direct_counters(RunningProgram& program, const p4::v1::DirectCounterEntry& wanted,
                          const Entities& found);
void read_direct_meters(RunningProgram& program, const p4::v1::DirectMeterEntry& wanted,
                        const Entities& found);

}  // namespace turntable::p4runtime_server
