// Bit fields on the wire: big-endian, most significant bit first, as P4 headers are laid out.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "dataplane/bits.h"

namespace turntable::dataplane {

static_assert(std::endian::native == std::endian::little, "load_aligned swaps bytes");

template <class T>
inline T load_aligned(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (sizeof(T) == 1)
    return value;
  else if constexpr (sizeof(T) == 2)
    return __builtin_bswap16(value);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bswap32(value);
  else
    return __builtin_bswap64(value);
}

template <class T>
inline void store_aligned(std::uint8_t* bytes, T value) {
  if constexpr (sizeof(T) == 2)
    value = __builtin_bswap16(value);
  else if constexpr (sizeof(T) == 4)
    value = __builtin_bswap32(value);
  else if constexpr (sizeof(T) == 8)
    value = __builtin_bswap64(value);
  std::memcpy(bytes, &value, sizeof value);
}

template <int Offset, int Width>
inline constexpr bool kIsAlignedWord = Offset % 8 == 0 &&
                                       (Width == 8 || Width == 16 || Width == 32 || Width == 64);

// Other whole bytes, such as the 48 bits of an address: the first 32 or 16 bits of them are one
// word, the rest follows.
template <int Offset, int Width>
inline constexpr bool kIsWholeBytes = Offset % 8 == 0 && Width % 8 == 0 && Width < 64;
template <int Width>
inline constexpr int kFirstWord = Width > 32 ? 32 : 16;

// The field of `Width` bits that begins `Offset` bits after `bytes`.
template <int Offset, int Width>
inline Unsigned<Width> load_bits(const std::uint8_t* bytes) {
  constexpr int kFirst = Offset / 8, kLast = (Offset + Width - 1) / 8;
  if constexpr (kIsAlignedWord<Offset, Width>) {
    return load_aligned<Unsigned<Width>>(bytes + kFirst);
  } else if constexpr (kIsWholeBytes<Offset, Width>) {
    constexpr int kHead = kFirstWord<Width>, kRest = Width - kHead;
    return static_cast<Unsigned<Width>>(Unsigned<Width>{load_bits<Offset, kHead>(bytes)} << kRest |
                                        load_bits<Offset + kHead, kRest>(bytes));
  } else if constexpr (Width > 64) {
    const uint128 high = load_bits<Offset, Width - 64>(bytes);
    return static_cast<Unsigned<Width>>(high << 64 | load_bits<Offset + Width - 64, 64>(bytes));
  } else {
    using Word = std::conditional_t<(kLast - kFirst >= 8), uint128, std::uint64_t>;
    Word word = 0;
    for (int i = kFirst; i <= kLast; ++i) word = static_cast<Word>(word << 8 | bytes[i]);
    return to_bit<Width>(word >> (7 - (Offset + Width - 1) % 8));
  }
}

// Writes that field and leaves the bits around it alone.
template <int Offset, int Width>
inline void store_bits(std::uint8_t* bytes, Unsigned<Width> value) {
  constexpr int kFirst = Offset / 8, kLast = (Offset + Width - 1) / 8;
  if constexpr (kIsAlignedWord<Offset, Width>) {
    store_aligned(bytes + kFirst, value);
  } else if constexpr (kIsWholeBytes<Offset, Width>) {
    constexpr int kHead = kFirstWord<Width>, kRest = Width - kHead;
    store_bits<Offset, kHead>(bytes, to_bit<kHead>(value >> kRest));
    store_bits<Offset + kHead, kRest>(bytes, to_bit<kRest>(value));
  } else if constexpr (Width > 64) {
    store_bits<Offset, Width - 64>(bytes, to_bit<Width - 64>(value >> 64));
    store_bits<Offset + Width - 64, 64>(bytes, static_cast<std::uint64_t>(value));
  } else {
    using Word = std::conditional_t<(kLast - kFirst >= 8), uint128, std::uint64_t>;
    constexpr int kShift = 7 - (Offset + Width - 1) % 8;
    Word word = static_cast<Word>(value) << kShift;
    Word mask = static_cast<Word>(kMask<Width>) << kShift;
    for (int i = kLast; i >= kFirst; --i, word >>= 8, mask >>= 8) {
      bytes[i] = static_cast<std::uint8_t>((bytes[i] & ~static_cast<unsigned>(mask & 0xFF)) |
                                           static_cast<unsigned>(word & 0xFF));
    }
  }
}

// Fields laid side by side into whole bytes: the input of a checksum, or what a deparser writes.
// Bits is a multiple of 8.
template <int Bits>
class FieldList {
 public:
  static_assert(Bits % 8 == 0);
  static constexpr int kBytes = Bits / 8;

  template <int Offset, int Width>
  void put(Unsigned<Width> value) {
    static_assert(Offset + Width <= Bits);
    store_bits<Offset, Width>(bytes_.data(), value);
  }

  std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }

 private:
  std::array<std::uint8_t, kBytes> bytes_{};
};

}  // namespace turntable::dataplane
