#include "p4runtime_server/bytestring.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dataplane/values.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using dataplane::uint128;

bool is_negative(char byte) {
  return (static_cast<unsigned char>(byte) & 0x80) != 0;
}

Refusal too_wide(const std::string& what, int width) {
  return out_of_range(what + ": needs more than its " + std::to_string(width) + " bits");
}

// The bits of an int<W>.
uint128 from_signed(std::string_view bytes, int width, const std::string& what) {
  if (bytes.empty()) throw out_of_range(what + ": an empty string is no number; zero is \"\\x00\"");
  const bool negative = is_negative(bytes.front());
  const char extension = negative ? '\xFF' : '\0';
  while (bytes.size() > 1 && bytes[0] == extension && is_negative(bytes[1]) == negative)
    bytes.remove_prefix(1);
  if (bytes.size() > sizeof(uint128)) throw too_wide(what, width);
  uint128 value = negative ? ~uint128{0} : 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  // All bits from the sign on are the same.
  const uint128 above = value >> (width - 1);
  if (above != 0 && above != (~uint128{0} >> (width - 1))) throw too_wide(what, width);
  return value & all_ones(width);
}

std::string to_signed(uint128 bits, int width) {
  const bool negative = (bits >> (width - 1) & 1) != 0;
  uint128 value = negative ? bits | ~all_ones(width) : bits;
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(uint128); ++i) {
    bytes.insert(bytes.begin(), static_cast<char>(value & 0xFF));
    value >>= 8;
  }
  const char extension = negative ? '\xFF' : '\0';
  while (bytes.size() > 1 && bytes[0] == extension && is_negative(bytes[1]) == negative)
    bytes.erase(0, 1);
  return bytes;
}

}  // namespace

uint128 all_ones(int width) {
  return width == dataplane::kMaxWidth ? ~uint128{0} : (uint128{1} << width) - 1;
}

uint128 from_bytestring(std::string_view bytes, int width, const std::string& what) {
  if (bytes.empty()) throw out_of_range(what + ": an empty string is no number; zero is \"\\x00\"");
  const auto first = std::find_if(bytes.begin(), bytes.end(), [](char byte) { return byte != 0; });
  const std::string_view digits = bytes.substr(static_cast<std::size_t>(first - bytes.begin()));
  if (digits.size() > sizeof(uint128)) throw too_wide(what, width);
  uint128 value = 0;
  for (const char byte : digits) value = value << 8 | static_cast<unsigned char>(byte);
  if (width < dataplane::kMaxWidth && value >> width != 0) throw too_wide(what, width);
  return value;
}

std::string to_bytestring(uint128 value) {
  std::string bytes;
  do {
    bytes.insert(bytes.begin(), static_cast<char>(value & 0xFF));
    value >>= 8;
  } while (value != 0);
  return bytes;
}

nlohmann::json value_of(std::string_view bytes, NumberType type, const std::string& what) {
  return dataplane::format_value(type.is_signed ? from_signed(bytes, type.width, what)
                                                : from_bytestring(bytes, type.width, what));
}

std::string bytestring_of(const nlohmann::json& value, NumberType type) {
  const uint128 bits = dataplane::parse_value(value, type.width, "value");
  return type.is_signed ? to_signed(bits, type.width) : to_bytestring(bits);
}

}  // namespace turntable::p4runtime_server
