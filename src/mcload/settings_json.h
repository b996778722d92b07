// Settings of a generator and what it measured, between a master and its agents.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "mcload/generator.h"

namespace turntable::mcload {

nlohmann::json to_json(const GeneratorSettings& settings);
// With content. Throws CommandError for what is wrong.
GeneratorSettings generator_settings_of(const nlohmann::json& json);

// Of raw_statistics(); the sums of latencies are those of the buckets' middles. Throws
// std::exception for what is none.
Measured measured_of(const nlohmann::json& raw);

}  // namespace turntable::mcload
