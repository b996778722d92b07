#include "stats/base64.h"

namespace turntable::stats {

std::string base64_encode(std::span<const std::uint8_t> bytes) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t group = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < group ? bytes[i + j] : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text.push_back(j <= group ? kAlphabet[bits >> (18 - 6 * j) & 0x3f] : '=');
    }
  }
  return text;
}

}  // namespace turntable::stats
