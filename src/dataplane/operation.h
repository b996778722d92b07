// What an update of table_write does: its "op". `expected`: the operations that the table knows, as
// an error lists them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/command_error.h"

namespace turntable::dataplane {

// Of tables whose entries are written one by one: groups of selectors, the switch's own tables.
inline constexpr const char* kEntryOperations =
    "\"insert\", \"modify\", \"upsert\", \"delete\" or \"clear\"";

// Throws bad_argument where the update has none, or no text.
std::string operation_of(const nlohmann::json& update, const std::string& expected);

// For one that the table does not know.
CommandError unknown_operation(const std::string& operation, const std::string& expected);

}  // namespace turntable::dataplane
