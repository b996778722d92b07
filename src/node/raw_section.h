// Bytes beside the JSON of a message (docs/architecture.md §2). In memory they are binary values
// anywhere in it. On the wire they follow its line: the member "raw_bytes" says how many there are,
// and {"$raw": [begin, size]} stands for each value.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace turntable::node {

inline constexpr std::size_t kMaxRawBytes = 64U << 20U;  // of one message

// Takes the binary values out of `message`, which can then be written as a line, and returns the
// bytes to be sent behind it. Throws bad_argument if there are more than kMaxRawBytes.
std::string detach_raw(nlohmann::json& message);

// Whether bytes follow the line that `message` came as.
bool has_raw(const nlohmann::json& message);

// How many. Throws bad_argument if that is no number up to kMaxRawBytes: nobody knows then where
// the next line begins.
std::size_t raw_bytes(const nlohmann::json& message);

// Puts the values back that detach_raw() has taken out. Throws bad_argument if one of them is not
// within `section`.
void attach_raw(nlohmann::json& message, std::string_view section);

}  // namespace turntable::node
