#include "dataplane/trace_values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

constexpr std::uint64_t kSmall = 10;  // reads the same in any base

// Whether the last word of a name, "addr" of "hdr.ipv4.dst_addr", is one of these.
bool ends_in(std::string_view name, std::initializer_list<std::string_view> words) {
  name.remove_prefix(name.find_last_of("._") + 1);
  return std::find(words.begin(), words.end(), name) != words.end();
}

bool is_hexadecimal(std::string_view name) {
  return ends_in(name, {"type", "ethertype", "optype", "shadowtype", "flags", "checksum", "csum",
                        "crc", "magic", "mask"});
}

std::string mac_text(std::uint64_t value) {
  std::string text;
  for (int shift = 40; shift >= 0; shift -= 8) {
    std::array<char, 4> byte{};
    std::snprintf(byte.data(), byte.size(), "%02x", static_cast<unsigned>(value >> shift & 0xFF));
    text += (text.empty() ? "" : ":") + std::string(byte.data());
  }
  return text;
}

std::string ip_text(int family, std::size_t size, uint128 value) {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = size; i-- > 0; value >>= 8) bytes[i] = static_cast<std::uint8_t>(value);
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, bytes.data(), text.data(), text.size());
}

}  // namespace

nlohmann::ordered_json trace_value(std::string_view name, int width, uint128 value) {
  const bool is_ip = ends_in(name, {"addr", "address", "ip"});
  if (is_ip && width == 32) return ip_text(AF_INET, 4, value);
  if (is_ip && width == 128) return ip_text(AF_INET6, 16, value);
  if (width == 48 && (is_ip || ends_in(name, {"mac"})))
    return mac_text(static_cast<std::uint64_t>(value));
  return format_value(value);
}

std::string trace_value_text(std::string_view name, const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_unsigned() || value < kSmall || !is_hexadecimal(name)) return value.dump();
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "0x%04llx", value.get<unsigned long long>());
  return text.data();
}

}  // namespace turntable::dataplane
