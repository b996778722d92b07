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
  for (std::uint8_t i = 0; i < kBase64Alphabet.size(); ++i) {
    values[static_cast<std::uint8_t>(kBase64Alphabet[i])] = i;
  }
  return values;
}
inline constexpr std::array<std::uint8_t, 256> kBase64Values = base64_values();

}  // namespace detail

inline std::string base64_encode(std::span<const std::uint8_t> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t group = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) bits = bits << 8 | (j < group ? bytes[i + j] : 0U);
    for (std::size_t j = 0; j <= group; ++j) {
      out[j] = detail::kBase64Alphabet[bits >> (18 - 6 * j) & 0x3f];
    }
    out += 4;
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
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t bits = 0;
    for (std::size_t j = i; j < i + 4; ++j) {
      const bool is_padding = j >= text.size() - padding;
      const std::uint8_t value =
          is_padding ? std::uint8_t{0} : detail::kBase64Values[static_cast<std::uint8_t>(text[j])];
      all |= value;
      bits = bits << 6 | value;
    }
    *out++ = static_cast<std::uint8_t>(bits >> 16);
    *out++ = static_cast<std::uint8_t>(bits >> 8);
    *out++ = static_cast<std::uint8_t>(bits);
  }
  if (all == detail::kNotBase64) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace turntable
