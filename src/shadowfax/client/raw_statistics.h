// Statistics of hlload-node as they are recorded (docs/raw-format.md).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "shadowfax/client/load_statistics.h"

namespace turntable::shadowfax {

nlohmann::json raw_statistics(const std::vector<ThreadResult>& threads, std::int64_t window_ns,
                              std::int64_t sample_ns);

}  // namespace turntable::shadowfax
