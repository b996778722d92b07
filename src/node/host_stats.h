// What a host's kernel counts, for the verdict on a measurement (docs/raw-format.md, host_stats).
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace turntable::node {

// Cumulative: processor times since the host started, summed over its processors; packets of the
// interfaces of the caller's network namespace. `proc` is another directory in tests. Throws
// CommandError `unavailable` when it holds no processor times.
nlohmann::json host_stats(const std::filesystem::path& proc = "/proc");

}  // namespace turntable::node
