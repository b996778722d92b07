// Commands for tables, whoever has them: the program, or the switch itself (FixedTables).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "dataplane/control.h"
#include "dataplane/fixed_tables.h"

namespace turntable::dataplane {

// A command of the program, or one that concerns fixed tables. A table_write may have updates of
// both; then it applies wholly or not at all, and "on_error": "continue" is refused. Throws
// CommandError.
nlohmann::json run_table_command(FixedTables& fixed, ControlPlane& program,
                                 std::string_view command, const nlohmann::json& args);

}  // namespace turntable::dataplane
