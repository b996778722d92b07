// Base64 (RFC 4648 §4, with padding): bytes inside JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace turntable {

namespace detail {

inline constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace detail

inline std::string base64_encode(std::span<const std::uint8_t> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t bits = bytes[i] << 16U | bytes[i + 1] << 8U | bytes[i + 2];
    *out++ = detail::kBase64Alphabet[bits >> 18];
    *out++ = detail::kBase64Alphabet[bits >> 12 & 0x3f];
    *out++ = detail::kBase64Alphabet[bits >> 6 & 0x3f];
    *out++ = detail::kBase64Alphabet[bits & 0x3f];
  }
  if (i < bytes.size()) {
    const bool are_two = i + 2 == bytes.size();
    const std::uint32_t bits = bytes[i] << 16U | (are_two ? bytes[i + 1] << 8U : 0U);
    *out++ = detail::kBase64Alphabet[bits >> 18];
    *out++ = detail::kBase64Alphabet[bits >> 12 & 0x3f];
    if (are_two) *out = detail::kBase64Alphabet[bits >> 6 & 0x3f];
  }
  return text;
}

}  // namespace turntable
