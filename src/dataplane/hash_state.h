// What the control plane has set of a hash, for another program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dataplane/dynamic_hash.h"

namespace turntable::dataplane {

// Null: nothing.
nlohmann::json state_of(const std::string& name, DynamicHash& hash);
// Throws CommandError state_conflict where the hash cannot be set so.
void take_state(const std::string& name, DynamicHash& hash, const nlohmann::json& state);

}  // namespace turntable::dataplane
