// Sizes of messages as commands and homa-sim's input say them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "homa/message_sizes.h"

namespace turntable::homa {

// {"file": a table of cumulative probabilities, "table": the text of one, or "bytes": one size;
// "divide", "cap"}; division comes first. Throws bad_argument; `where` begins messages.
MessageSizes sizes_argument(const std::string& where, const nlohmann::json& json);

}  // namespace turntable::homa
