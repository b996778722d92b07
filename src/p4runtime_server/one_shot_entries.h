// Entries of tables whose action is a set of actions.
#pragma once

#include <optional>
#include <string>

#include "p4runtime_server/table_entries.h"

namespace turntable::p4runtime_server {

// Of an entry of a table with a selector: its actions are not known where a server before this one
// has made it. The entry may be gone, or name another group: not only this server writes. `update`:
// of the entry; `entry_name`: its notes' name. Throws CommandError.
std::optional<ActionSet> set_of(RunningProgram& program, const config::Table& table,
                                const nlohmann::json& update, const std::string& entry_name);

// `update`: of the entry, without its data; `entry_name`: its notes' name. The set is remembered
// when `done` of the result is called. Throws Refusal: INVALID_ARGUMENT weights, ports or actions
// that cannot be, and a profile that has members of clients; UNIMPLEMENTED another way of choosing
// than the selector's.
SwitchUpdate write_action_set(RunningProgram& program, const config::Table& table,
                              const p4::v1::ActionProfileActionSet& set, nlohmann::json update,
                              const std::string& entry_name);

// Of an entry that has a set: it goes with what only it has.
SwitchUpdate delete_action_set(RunningProgram& program, const config::Table& table,
                               const ActionSet& set, nlohmann::json update,
                               const std::string& entry_name);

}  // namespace turntable::p4runtime_server
