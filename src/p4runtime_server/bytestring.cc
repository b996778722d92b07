#include "p4runtime_server/bytestring.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dataplane/values.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {

using dataplane::uint128;

uint128 from_bytestring(std::string_view bytes, int width, const std::string& what) {
  if (bytes.empty()) throw out_of_range(what + ": an empty string is no number; zero is \"\\x00\"");
  const auto first = std::find_if(bytes.begin(), bytes.end(), [](char byte) { return byte != 0; });
  const std::string_view digits = bytes.substr(static_cast<std::size_t>(first - bytes.begin()));
  const auto refuse = [&] {
    return out_of_range(what + ": needs more than its " + std::to_string(width) + " bits");
  };
  if (digits.size() > sizeof(uint128)) throw refuse();
  uint128 value = 0;
  for (const char byte : digits) value = value << 8 | static_cast<unsigned char>(byte);
  if (width < dataplane::kMaxWidth && value >> width != 0) throw refuse();
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

nlohmann::json value_of(std::string_view bytes, int width, const std::string& what) {
  return dataplane::format_value(from_bytestring(bytes, width, what));
}

std::string bytestring_of(const nlohmann::json& value, int width) {
  return to_bytestring(dataplane::parse_value(value, width, "value"));
}

}  // namespace turntable::p4runtime_server
