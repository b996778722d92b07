// What a hash unit hashes: fields laid side by side, held as integers and not as bytes in memory,
// so that a compiler sees which parts of two hashes are the same. Then the tables of a CRC are
// asked once for all hashes of the same fields, and never for constants such as a seed.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/bits.h"
#include "dataplane/crc.h"
#include "dataplane/packed_key.h"

namespace turntable::dataplane {

// Bits is a multiple of 8. Offsets count from the first bit.
template <int Bits>
class HashInput {
 public:
  static_assert(Bits % 8 == 0);
  static constexpr int kBytes = Bits / 8;

  // Once for each field: what is there already stays.
  template <int Offset, int Width>
  constexpr void put(Unsigned<Width> value) noexcept {
    static_assert(Offset + Width <= Bits);
    pack_field(words_.data(), Bits - Offset - Width, Width, value);
  }

  // All of it; the last bit is bit 0 of word 0.
  constexpr std::array<std::uint64_t, words_for(Bits)> words() const noexcept { return words_; }

  // The last bits: what an IDENTITY hash returns.
  template <int Width>
  constexpr Unsigned<Width> low_bits() const noexcept {
    static_assert(Width <= Bits);
    return to_bit<Width>(unpack_field(words_.data(), 0, Width));
  }

  // Its words of `Width` bits, the last one with zeros behind it, under exclusive or: what an XOR
  // hash returns.
  template <int Width>
  constexpr Unsigned<Width> xor_of_words() const noexcept {
    Unsigned<Width> result = 0;
    for (int i = 0; i < kBytes; ++i) {
      const int shift = Width - 8 - i * 8 % Width;
      result = static_cast<Unsigned<Width>>(result ^ Unsigned<Width>{byte(i)} << shift);
    }
    return result;
  }

  // The same as crc<P>() of its bytes.
  template <CrcParameters P>
  constexpr std::uint64_t crc() const noexcept {
    using Tables = CrcTables<P>;
    constexpr const Tables& kTables = kCrcTables<P>;
    auto state = Tables::kInitial;
    int i = 0;
    if constexpr (kBytes >= Tables::kStateBytes) {
      while (kBytes - i > Tables::kAtOnce) {
        state = sum_of_bytes<P>(state, i, Tables::kStep);
        i += Tables::kStep;
      }
      state = sum_of_bytes<P>(state, i, kBytes - i);
    } else {
      for (; i < kBytes; ++i) state = kTables.after_byte(state, byte(i));
    }
    return Tables::result_of(state);
  }

 private:
  // The state after `count` bytes from `first` on, at least as many as a state has.
  template <CrcParameters P>
  constexpr auto sum_of_bytes(typename CrcTables<P>::Word state, int first,
                              int count) const noexcept {
    typename CrcTables<P>::Word sum = 0;
#pragma GCC unroll 16
    for (int i = 0; i < count; ++i)
      sum ^= kCrcTables<P>.of_byte(
          static_cast<std::uint8_t>(byte(first + i) ^ CrcTables<P>::byte_of(state, i)),
          count - 1 - i);
    return sum;
  }

  constexpr std::uint8_t byte(int i) const noexcept {
    const int behind = 8 * (kBytes - 1 - i);
    return static_cast<std::uint8_t>(words_[static_cast<std::size_t>(behind / 64)] >> behind % 64);
  }

  std::array<std::uint64_t, words_for(Bits)> words_{};
};

}  // namespace turntable::dataplane
