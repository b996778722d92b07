#include "workload/key.h"

#include <cstddef>
#include <string>

#include "common/command_error.h"

namespace turntable::workload {
namespace {

// kWirePosition[i]: where byte i of the id (0 = least significant) stands among the 16 wire bytes.
constexpr std::array<std::size_t, 8> kWirePosition = {11, 10, 9, 8, 13, 12, 15, 14};

constexpr std::uint32_t crc_step(std::uint32_t crc, std::uint8_t byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  return crc;
}

constexpr std::uint32_t crc_of_bytes(const KeyBytes& bytes, std::uint32_t initial) {
  std::uint32_t crc = initial;
  for (const std::uint8_t byte : bytes) crc = crc_step(crc, byte);
  return crc;
}

constexpr CrcTables make_crc_tables() {
  CrcTables tables{};
  tables.zero_key = ~crc_of_bytes(KeyBytes{}, 0xFFFFFFFF);
  for (std::size_t i = 0; i < 8; ++i) {
    for (unsigned value = 0; value < 256; ++value) {
      KeyBytes bytes{};
      bytes[kWirePosition[i]] = static_cast<std::uint8_t>(value);
      tables.terms[i][value] = crc_of_bytes(bytes, 0);
    }
  }
  return tables;
}

}  // namespace

constexpr CrcTables kCrcTables = make_crc_tables();

void check_scale(std::uint64_t scale) {
  if (scale >= 1 && scale <= kSlots && kSlots % scale == 0) return;
  throw bad_argument("scale " + std::to_string(scale) +
                     ": expected a power of two from 1 to 32768, because the partitions share " +
                     "32768 hash slots evenly; choose for instance 16, 32, 64 or 128");
}

}  // namespace turntable::workload
