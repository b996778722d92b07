// Many insertions into one table as columns of numbers, which softswitch takes ten times as fast.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace turntable::bfrt_server {

// Elements of table_write's "updates" as one of them, "insert_columns". Nothing: they are no
// insertions into one table with one action, or have keys or data that are no plain numbers.
std::optional<nlohmann::json> as_columns(const std::vector<nlohmann::json>& updates);

}  // namespace turntable::bfrt_server
