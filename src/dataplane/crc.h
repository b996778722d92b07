// Parametric CRCs (the Rocksoft model: width, polynomial, initial value, final xor, reflection), as
// the hash units of TNA compute them. CRC-32/ISO-HDLC equals zlib's crc32.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace turntable::dataplane {

struct CrcParameters {
  int width;                 // 8 to 64
  std::uint64_t polynomial;  // without the leading 1
  std::uint64_t initial;
  std::uint64_t final_xor;
  bool reflected;  // input bytes and result, least significant bit first
};

inline constexpr CrcParameters kCrc8{8, 0x07, 0, 0, false};
inline constexpr CrcParameters kCrc16{16, 0x8005, 0, 0, true};  // CRC-16/ARC
inline constexpr CrcParameters kCrc32{32, 0x04C11DB7, 0xFFFFFFFF, 0xFFFFFFFF, true};
inline constexpr CrcParameters kCrc64{64, 0x42F0E1EBA9EA3693, 0, 0, false};  // CRC-64/ECMA-182
// HashAlgorithm_t.RANDOM: on the ASIC a random matrix over GF(2) that the compiler draws. Here one
// fixed linear function, CRC-64/Jones.
inline constexpr CrcParameters kRandomHash{64, 0xAD93D23594C935A9, 0, 0, true};

class Crc {
 public:
  explicit constexpr Crc(const CrcParameters& parameters) : parameters_(parameters) {
    for (unsigned byte = 0; byte < 256; ++byte) table_[byte] = remainder_of(byte);
  }

  constexpr std::uint64_t compute(std::span<const std::uint8_t> data) const {
    std::uint64_t state = parameters_.reflected ? reflect(parameters_.initial, parameters_.width)
                                                : parameters_.initial << (64 - parameters_.width);
    for (const std::uint8_t byte : data) {
      state = parameters_.reflected ? table_[(state ^ byte) & 0xFF] ^ (state >> 8)
                                    : table_[(state >> 56) ^ byte] ^ (state << 8);
    }
    if (!parameters_.reflected) state >>= 64 - parameters_.width;
    return state ^ parameters_.final_xor;
  }

 private:
  static constexpr std::uint64_t reflect(std::uint64_t value, int width) {
    std::uint64_t result = 0;
    for (int i = 0; i < width; ++i) result |= ((value >> i) & 1) << (width - 1 - i);
    return result;
  }

  // Unreflected states are kept at the top of the 64-bit word, so that one table serves every
  // width.
  constexpr std::uint64_t remainder_of(unsigned byte) const {
    if (parameters_.reflected) {
      const std::uint64_t polynomial = reflect(parameters_.polynomial, parameters_.width);
      std::uint64_t state = byte;
      for (int i = 0; i < 8; ++i) state = (state & 1) != 0 ? (state >> 1) ^ polynomial : state >> 1;
      return state;
    }
    const std::uint64_t polynomial = parameters_.polynomial << (64 - parameters_.width);
    std::uint64_t state = static_cast<std::uint64_t>(byte) << 56;
    for (int i = 0; i < 8; ++i) state = (state >> 63) != 0 ? (state << 1) ^ polynomial : state << 1;
    return state;
  }

  CrcParameters parameters_;
  std::array<std::uint64_t, 256> table_{};
};

}  // namespace turntable::dataplane
