// Members and groups of action profiles.
#pragma once

#include "p4runtime_server/table_entries.h"

namespace turntable::p4runtime_server {

// Throw Refusal.
SwitchUpdate write_member(RunningProgram& program, p4::v1::Update::Type type,
                          const p4::v1::ActionProfileMember& member);
SwitchUpdate write_group(RunningProgram& program, p4::v1::Update::Type type,
                         const p4::v1::ActionProfileGroup& group);

void read_members(RunningProgram& program, const p4::v1::ActionProfileMember& wanted,
                  const Entities& found);
void read_groups(RunningProgram& program, const p4::v1::ActionProfileGroup& wanted,
                 const Entities& found);

}  // namespace turntable::p4runtime_server
