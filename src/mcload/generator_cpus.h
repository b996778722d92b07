// On which processors the generator's threads run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace turntable::mcload {

// {"cpus": [1, 2]}, a request of placement/placement.h whose generator this is, or null: not pinned
// (an empty answer). Throws CommandError, also for a CPU that this process may not use.
std::vector<int> generator_cpus(const std::string& where, const nlohmann::json& placement);

}  // namespace turntable::mcload
