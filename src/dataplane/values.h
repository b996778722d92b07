// Field values in control commands. Accepted: a non-negative integer, true/false (width 1), and
// texts: decimal, "0x…", an IPv4 address (width 32), a MAC address (width 48), an IPv6 address
// (width 128).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dataplane/bits.h"

namespace turntable::dataplane {

// A non-negative integer: one that was parsed is unsigned, one from C++ may be an int.
bool is_natural(const nlohmann::json& value);

// Throws bad_argument, naming the field by `what`, if the value has another form or needs more than
// `width` bits.
uint128 parse_value(const nlohmann::json& value, int width, const std::string& what);

// An integer if it fits in 64 bits, else a text "0x…".
nlohmann::json format_value(uint128 value);

}  // namespace turntable::dataplane
