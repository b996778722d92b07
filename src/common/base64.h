// Base64 (RFC 4648 §4, with padding): bytes inside JSON.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace turntable {

namespace detail {

inline constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr std::uint8_t kNotBase64 = 0xff;

constexpr std::array<std::uint8_t, 256> base64_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNotBase64);
  std::uint8_t value = 0;
  for (const char letter : kBase64Alphabet) values[static_cast<std::uint8_t>(letter)] = value++;
  return values;
}
inline constexpr std::array<std::uint8_t, 256> kBase64Values = base64_values();

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

// Nothing if `text` is not base64.
inline std::optional<std::vector<std::uint8_t>> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::vector<std::uint8_t> bytes(text.size() / 4 * 3);
  std::uint8_t* out = bytes.data();
  std::uint8_t all = 0;
  const auto value_at = [&](std::size_t at) {
    const std::uint8_t value = detail::kBase64Values[static_cast<std::uint8_t>(text[at])];
    all |= value;
    return std::uint32_t{value};
  };
  const auto put = [&](std::uint32_t bits) {
    *out++ = static_cast<std::uint8_t>(bits >> 16);
    *out++ = static_cast<std::uint8_t>(bits >> 8);
    *out++ = static_cast<std::uint8_t>(bits);
  };
  const std::size_t whole = padding == 0 ? text.size() : text.size() - 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    put(value_at(i) << 18 | value_at(i + 1) << 12 | value_at(i + 2) << 6 | value_at(i + 3));
  }
  if (padding > 0) {
    put(value_at(whole) << 18 | value_at(whole + 1) << 12 |
        (padding == 1 ? value_at(whole + 2) << 6 : 0U));
  }
  if (all == detail::kNotBase64) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace turntable
