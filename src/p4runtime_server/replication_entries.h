// Entries of the packet replication engine: multicast groups and clone sessions.
#pragma once

#include "p4runtime_server/table_entries.h"

namespace turntable::p4runtime_server {

// Throws Refusal, and CommandError where softswitch does not say what is there.
SwitchUpdate write_replication(RunningProgram& program, p4::v1::Update::Type type,
                               const p4::v1::PacketReplicationEngineEntry& entry);

void read_replication(RunningProgram& program, const p4::v1::PacketReplicationEngineEntry& wanted,
                      const Entities& found);

// Updates for table_write that leave neither groups nor sessions.
nlohmann::json replication_clears();

}  // namespace turntable::p4runtime_server
