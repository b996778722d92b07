// Numbers as BF Runtime's byte strings: most significant byte first, exactly as many as the field's
// bits need.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "dataplane/bits.h"

namespace turntable::bfrt {

inline constexpr int kMaxWidth = 128;  // bits of a number here

// `width`: bits, up to kMaxWidth. Higher bits of the value are cut off.
inline std::string to_byte_string(dataplane::uint128 value, int width) {
  std::string bytes((static_cast<std::size_t>(width) + 7) / 8, '\0');
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    *byte = static_cast<char>(value & 0xFF);
    value >>= 8;
  }
  if (width % 8 != 0) bytes[0] = static_cast<char>(bytes[0] & ((1 << (width % 8)) - 1));
  return bytes;
}

// Nothing: another length than `width` bits need, or bits above them are set.
inline std::optional<dataplane::uint128> from_byte_string(std::string_view bytes, int width) {
  if (width > kMaxWidth || bytes.size() != (static_cast<std::size_t>(width) + 7) / 8) return {};
  dataplane::uint128 value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  if (width < kMaxWidth && value >> width != 0) return {};
  return value;
}

}  // namespace turntable::bfrt
