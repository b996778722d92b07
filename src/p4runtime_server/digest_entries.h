// Which digests clients are sent.
#pragma once

#include "p4runtime_server/table_entries.h"

namespace turntable::p4runtime_server {

// Throws Refusal.
SwitchUpdate write_digest(RunningProgram& program, p4::v1::Update::Type type,
                          const p4::v1::DigestEntry& entry);

void read_digests(RunningProgram& program, const p4::v1::DigestEntry& wanted,
                  const Entities& found);

}  // namespace turntable::p4runtime_server
