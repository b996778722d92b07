// Base64 (RFC 4648 §4, with padding): the text form of an encoded histogram.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace turntable::stats {

std::string base64_encode(std::span<const std::uint8_t> bytes);

}  // namespace turntable::stats
