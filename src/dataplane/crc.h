// Parametric CRCs (the Rocksoft model: width, polynomial, initial value, final xor, reflection), as
// the hash units of TNA compute them. CRC-32/ISO-HDLC equals zlib's crc32.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "dataplane/bits.h"

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

constexpr std::uint64_t reflect_bits(std::uint64_t value, int width) {
  std::uint64_t result = 0;
  for (int i = 0; i < width; ++i) result |= ((value >> i) & 1) << (width - 1 - i);
  return result;
}

// Tables that take a CRC on by several bytes at a time: [k][b] is what byte b, followed by k zero
// bytes, adds to it. Unreflected states are kept at the top of the word, so that one step serves
// every width.
template <CrcParameters P>
class CrcTables {
 public:
  using Word = std::conditional_t<(P.width <= 32), std::uint32_t, std::uint64_t>;
  static constexpr int kBits = sizeof(Word) * 8;
  static constexpr Word kInitial = P.reflected ? static_cast<Word>(reflect_bits(P.initial, P.width))
                                               : static_cast<Word>(P.initial << (kBits - P.width));
  static constexpr int kStateBytes = sizeof(Word);
  static constexpr int kStep = 8;  // bytes of a step in a long run of them
  // Most bytes of a step: 16 tables are half of a first-level cache.
  static constexpr int kAtOnce = 16;

  constexpr CrcTables() {
    for (unsigned byte = 0; byte < 256; ++byte) tables_[0][byte] = remainder_of(byte);
    for (std::size_t k = 1; k < tables_.size(); ++k) {
      for (unsigned byte = 0; byte < 256; ++byte) {
        tables_[k][byte] = after_byte(tables_[k - 1][byte], 0);
      }
    }
  }

  constexpr Word after_byte(Word state, std::uint8_t byte) const {
    if constexpr (P.reflected) {
      return static_cast<Word>(tables_[0][(state ^ byte) & 0xFF] ^ (state >> 8));
    } else {
      return static_cast<Word>(tables_[0][state >> (kBits - 8) ^ byte] ^ (state << 8));
    }
  }

  // What a byte adds that `behind` bytes follow in the same step.
  constexpr Word of_byte(std::uint8_t byte, int behind) const noexcept {
    return tables_[static_cast<std::size_t>(behind)][byte];
  }

  // The part of a state that is added to the i-th byte of a step.
  static constexpr std::uint8_t byte_of(Word state, int i) noexcept {
    if (i >= kStateBytes) return 0;
    return static_cast<std::uint8_t>(state >> (P.reflected ? 8 * i : kBits - 8 - 8 * i));
  }

  static constexpr std::uint64_t result_of(Word state) noexcept {
    if constexpr (!P.reflected) state >>= kBits - P.width;
    return state ^ P.final_xor;
  }

  Word after_eight_bytes(Word state, const std::uint8_t* bytes) const noexcept {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    // The first byte goes to the lowest (reflected) or the highest bits, where the state is.
    if constexpr (P.reflected) {
      word ^= state;
    } else {
      word = __builtin_bswap64(word) ^ std::uint64_t{state} << (64 - kBits);
    }
    Word result = 0;
    for (int i = 0; i < 8; ++i) {
      const int shift = P.reflected ? 8 * i : 56 - 8 * i;
      result ^= tables_[7 - i][word >> shift & 0xFF];
    }
    return result;
  }

 private:
  static constexpr Word remainder_of(unsigned byte) {
    if constexpr (P.reflected) {
      constexpr auto kPolynomial = static_cast<Word>(reflect_bits(P.polynomial, P.width));
      Word state = byte;
      for (int i = 0; i < 8; ++i)
        state = static_cast<Word>((state & 1) != 0 ? (state >> 1) ^ kPolynomial : state >> 1);
      return state;
    } else {
      constexpr auto kPolynomial = static_cast<Word>(P.polynomial << (kBits - P.width));
      Word state = static_cast<Word>(Word{byte} << (kBits - 8));
      for (int i = 0; i < 8; ++i)
        state =
            static_cast<Word>(state >> (kBits - 1) != 0 ? (state << 1) ^ kPolynomial : state << 1);
      return state;
    }
  }

  std::array<std::array<Word, 256>, kAtOnce> tables_{};
};

// Shared by all hashes with the same parameters, as they share the cache.
template <CrcParameters P>
inline constexpr CrcTables<P> kCrcTables{};

template <CrcParameters P>
std::uint64_t crc(std::span<const std::uint8_t> data) noexcept {
  constexpr const CrcTables<P>& kTables = kCrcTables<P>;
  auto state = CrcTables<P>::kInitial;
  std::size_t i = 0;
  for (; i + 8 <= data.size(); i += 8) state = kTables.after_eight_bytes(state, &data[i]);
  for (; i < data.size(); ++i) state = kTables.after_byte(state, data[i]);
  return CrcTables<P>::result_of(state);
}

// The lowest `Width` bits of a hash over and over, up to `Result` bits: how the Tofino compiler
// extends a CRC.
template <int Width, int Result>
constexpr Unsigned<Result> repeat_bits(std::uint64_t hash) {
  static_assert(Width < Result && Result <= 64);
  std::uint64_t repeated = 0;
  for (int shift = 0; shift < Result; shift += Width) repeated |= hash << shift;
  return to_bit<Result>(repeated);
}

}  // namespace turntable::dataplane
