#include "dataplane/values.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/command_error.h"

namespace turntable::dataplane {
namespace {

template <std::size_t N>
uint128 from_bytes(const std::array<std::uint8_t, N>& bytes) {
  uint128 value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

std::optional<uint128> parse_digits(std::string_view digits, unsigned base) {
  if (digits.empty()) return std::nullopt;
  uint128 value = 0;
  for (const char c : digits) {
    unsigned digit = 0;
    const auto [end, error] = std::from_chars(&c, &c + 1, digit, 16);
    if (error != std::errc{} || digit >= base) return std::nullopt;
    if (value > (~uint128{0} - digit) / base) return std::nullopt;
    value = value * base + digit;
  }
  return value;
}

std::optional<uint128> parse_mac(const std::string& text) {
  std::array<std::uint8_t, 6> bytes{};
  if (text.size() != 17) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = parse_digits(std::string_view(text).substr(i * 3, 2), 16);
    if (!byte || (i < 5 && text[i * 3 + 2] != ':')) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(*byte);
  }
  return from_bytes(bytes);
}

std::optional<uint128> parse_text(const std::string& text, int width) {
  if (text.starts_with("0x")) return parse_digits(std::string_view(text).substr(2), 16);
  if (const auto decimal = parse_digits(text, 10)) return decimal;
  std::array<std::uint8_t, 4> ipv4{};
  if (width == 32 && inet_pton(AF_INET, text.c_str(), ipv4.data()) == 1) return from_bytes(ipv4);
  std::array<std::uint8_t, 16> ipv6{};
  if (width == 128 && inet_pton(AF_INET6, text.c_str(), ipv6.data()) == 1) return from_bytes(ipv6);
  if (width == 48) return parse_mac(text);
  return std::nullopt;
}

std::optional<uint128> parse_any(const nlohmann::json& value, int width) {
  if (is_natural(value)) return value.get<std::uint64_t>();
  if (value.is_boolean() && width == 1) return value.get<bool>() ? 1 : 0;
  if (value.is_string()) return parse_text(value.get_ref<const std::string&>(), width);
  return std::nullopt;
}

std::string expected_forms(int width) {
  std::string forms = "a non-negative integer or a text such as \"0x05\"";
  if (width == 1) forms += " or true/false";
  if (width == 32) forms += " or an IPv4 address";
  if (width == 48) forms += " or a MAC address (aa:bb:cc:dd:ee:ff)";
  if (width == 128) forms += " or an IPv6 address";
  return forms;
}

}  // namespace

bool is_natural(const nlohmann::json& value) {
  return value.is_number_unsigned() ||
         (value.is_number_integer() && value.get<std::int64_t>() >= 0);
}

uint128 parse_value(const nlohmann::json& value, int width, const std::string& what) {
  const std::optional<uint128> parsed = parse_any(value, width);
  if (!parsed) {
    throw bad_argument(what + ": " + value.dump() + " is not a value of bit<" +
                       std::to_string(width) + ">; expected " + expected_forms(width));
  }
  if (width < 128 && *parsed >> width != 0) {
    throw bad_argument(what + ": " + value.dump() + " is too wide; the field is bit<" +
                       std::to_string(width) + ">, its largest value " +
                       format_value((uint128{1} << width) - 1).dump());
  }
  return *parsed;
}

nlohmann::json format_value(uint128 value) {
  if (value >> 64 == 0) return static_cast<std::uint64_t>(value);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "0x%llx%016llx",
                static_cast<unsigned long long>(value >> 64),
                static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace turntable::dataplane
