// What a generator measured, as the node answers it and as agents send it to their master.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "mcload/generator.h"

namespace turntable::mcload {

nlohmann::json raw_statistics(const Measured& measured);
nlohmann::json to_json(const Errors& errors);

}  // namespace turntable::mcload
