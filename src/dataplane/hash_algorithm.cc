#include "dataplane/hash_algorithm.h"

#include <algorithm>
#include <array>

#include "common/command_error.h"
#include "dataplane/crc.h"

namespace turntable::dataplane {
namespace {

struct NamedCrc {
  std::string_view name;
  int width;
  std::uint64_t polynomial;
  bool reverse;
  std::uint64_t initial;
  std::uint64_t final_xor;
};

// As an SDE has them. Some differ from the catalogue of that name: CRC_8_ITU and CRC_16_DECT have
// another initial value.
constexpr std::array kNamedCrcs = {
    NamedCrc{"CRC_8", 8, 0x07, false, 0, 0},
    NamedCrc{"CRC_8_DARC", 8, 0x39, true, 0, 0},
    NamedCrc{"CRC_8_I_CODE", 8, 0x1D, false, 0xFD, 0},
    NamedCrc{"CRC_8_ITU", 8, 0x07, false, 0x55, 0x55},
    NamedCrc{"CRC_8_MAXIM", 8, 0x31, true, 0, 0},
    NamedCrc{"CRC_8_ROHC", 8, 0x07, true, 0xFF, 0},
    NamedCrc{"CRC_8_WCDMA", 8, 0x9B, true, 0, 0},
    NamedCrc{"CRC_16", 16, 0x8005, true, 0, 0},
    NamedCrc{"CRC_16_BYPASS", 16, 0x8005, false, 0, 0},
    NamedCrc{"CRC_16_DDS_110", 16, 0x8005, false, 0x800D, 0},
    NamedCrc{"CRC_16_DECT", 16, 0x0589, false, 1, 1},
    NamedCrc{"CRC_16_DECT_R", 16, 0x0589, false, 0, 1},
    NamedCrc{"CRC_16_DECT_X", 16, 0x0589, false, 0, 0},
    NamedCrc{"CRC_16_DNP", 16, 0x3D65, true, 0, 0xFFFF},
    NamedCrc{"CRC_16_EN_13757", 16, 0x3D65, false, 0, 0xFFFF},
    NamedCrc{"CRC_16_GENIBUS", 16, 0x1021, false, 0xFFFF, 0xFFFF},
    NamedCrc{"CRC_16_MAXIM", 16, 0x8005, true, 0, 0xFFFF},
    NamedCrc{"CRC_16_MCRF4XX", 16, 0x1021, true, 0xFFFF, 0},
    NamedCrc{"CRC_16_RIELLO", 16, 0x1021, true, 0xB2AA, 0},
    NamedCrc{"CRC_16_T10_DIF", 16, 0x8BB7, false, 0, 0},
    NamedCrc{"CRC_16_TELEDISK", 16, 0xA097, false, 0, 0},
    NamedCrc{"CRC_16_USB", 16, 0x8005, true, 0xFFFF, 0xFFFF},
    NamedCrc{"X_25", 16, 0x1021, true, 0xFFFF, 0xFFFF},
    NamedCrc{"XMODEM", 16, 0x1021, false, 0, 0},
    NamedCrc{"MODBUS", 16, 0x8005, true, 0xFFFF, 0},
    NamedCrc{"KERMIT", 16, 0x1021, true, 0, 0},
    NamedCrc{"CRC_CCITT_FALSE", 16, 0x1021, false, 0xFFFF, 0},
    NamedCrc{"CRC_AUG_CCITT", 16, 0x1021, false, 0x1D0F, 0},
    NamedCrc{"CRC_32", 32, 0x04C11DB7, true, 0xFFFFFFFF, 0xFFFFFFFF},
    NamedCrc{"CRC_32_BZIP2", 32, 0x04C11DB7, false, 0xFFFFFFFF, 0xFFFFFFFF},
    NamedCrc{"CRC_32C", 32, 0x1EDC6F41, true, 0xFFFFFFFF, 0xFFFFFFFF},
    NamedCrc{"CRC_32D", 32, 0xA833982B, true, 0xFFFFFFFF, 0xFFFFFFFF},
    NamedCrc{"CRC_32_MPEG", 32, 0x04C11DB7, false, 0xFFFFFFFF, 0},
    NamedCrc{"POSIX", 32, 0x04C11DB7, false, 0, 0xFFFFFFFF},
    NamedCrc{"CRC_32Q", 32, 0x814141AB, false, 0, 0},
    NamedCrc{"JAMCRC", 32, 0x04C11DB7, true, 0xFFFFFFFF, 0},
    NamedCrc{"XFER", 32, 0x000000AF, false, 0, 0},
    NamedCrc{"CRC_64", 64, 0x42F0E1EBA9EA3693, false, 0, 0},
    NamedCrc{"CRC_64_GO_ISO", 64, 0x1B, true, ~std::uint64_t{0}, ~std::uint64_t{0}},
    NamedCrc{"CRC_64_WE", 64, 0x42F0E1EBA9EA3693, false, ~std::uint64_t{0}, ~std::uint64_t{0}},
    NamedCrc{"CRC_64_JONES", 64, 0xAD93D23594C935A9, true, ~std::uint64_t{0}, 0},
};

}  // namespace

HashAlgorithm named_hash_algorithm(std::string_view name, int width, bool extend) {
  using Kind = HashAlgorithm::Kind;
  HashAlgorithm algorithm{.name = std::string(name), .kind = Kind::kCrc, .width = width};
  algorithm.extend = extend;
  if (name == "IDENTITY" || name == "XOR") {
    algorithm.kind = name == "XOR" ? Kind::kXor : Kind::kIdentity;
    return algorithm;
  }
  if (name == "RANDOM") {
    algorithm.kind = Kind::kRandom;
    algorithm.width = kRandomHash.width;
    algorithm.polynomial = kRandomHash.polynomial;
    algorithm.reverse = kRandomHash.reflected;
    return algorithm;
  }
  const auto* found = std::find_if(kNamedCrcs.begin(), kNamedCrcs.end(),
                                   [&](const NamedCrc& crc) { return crc.name == name; });
  if (found == kNamedCrcs.end()) {
    std::string known = "IDENTITY, RANDOM, XOR";
    for (const NamedCrc& crc : kNamedCrcs) known += ", " + std::string(crc.name);
    throw bad_argument("no algorithm of a hash has the name \"" + std::string(name) +
                       "\"; expected one of " + known);
  }
  algorithm.width = found->width;
  algorithm.polynomial = found->polynomial;
  algorithm.initial = found->initial;
  algorithm.final_xor = found->final_xor;
  algorithm.reverse = found->reverse;
  return algorithm;
}

}  // namespace turntable::dataplane
