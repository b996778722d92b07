// Values of fields in traces.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "dataplane/bits.h"

namespace turntable::dataplane {

// A form that the control plane's commands take as well: an integer, or "0x…" beyond 64 bits; but a
// field whose name ends in "addr", "address", "ip" or "mac", and whose width fits, as an address
// text.
nlohmann::ordered_json trace_value(std::string_view name, int width, uint128 value);

// What a reader sees of that: types, flags and checksums in hexadecimal, as in the sources.
std::string trace_value_text(std::string_view name, const nlohmann::ordered_json& value);

}  // namespace turntable::dataplane
