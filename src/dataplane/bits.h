// bit<W> and int<W> of P4-16 as C++ integers, for W from 1 to 128.
//
// A bit<W> is held in the smallest unsigned type that fits and is always below 2^W; an int<W> is
// held sign-extended. Every operation here keeps that invariant, so that generated code can compare
// and store values as they are. Semantics: P4-16 specification, section 8.5 (operations on
// fixed-width integers): wrap-around unless saturating.
#pragma once

#include <cstdint>
#include <type_traits>

namespace turntable::dataplane {

__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;

inline constexpr int kMaxWidth = 128;

template <int W>
using Unsigned = std::conditional_t<
    (W <= 8), std::uint8_t,
    std::conditional_t<(W <= 16), std::uint16_t,
                       std::conditional_t<(W <= 32), std::uint32_t,
                                          std::conditional_t<(W <= 64), std::uint64_t, uint128>>>>;

template <int W>
using Signed = std::conditional_t<
    (W <= 8), std::int8_t,
    std::conditional_t<(W <= 16), std::int16_t,
                       std::conditional_t<(W <= 32), std::int32_t,
                                          std::conditional_t<(W <= 64), std::int64_t, int128>>>>;

// Arithmetic happens in these, so that narrow operands are not promoted to a signed int that could
// overflow.
template <int W>
using UnsignedWord = std::conditional_t<(W <= 64), std::uint64_t, uint128>;
template <int W>
using SignedWord = std::conditional_t<(W <= 64), std::int64_t, int128>;

template <int W>
inline constexpr UnsignedWord<W> kMask = static_cast<UnsignedWord<W>>(~UnsignedWord<W>{0}) >>
                                         (sizeof(UnsignedWord<W>) * 8 - W);

// A 128-bit constant from its halves; C++ has no literal for one.
constexpr uint128 wide_constant(std::uint64_t high, std::uint64_t low) {
  return static_cast<uint128>(high) << 64 | low;
}

// The low W bits of any integer, as bit<W>.
template <int W, class T>
constexpr Unsigned<W> to_bit(T value) {
  static_assert(W >= 1 && W <= kMaxWidth);
  return static_cast<Unsigned<W>>(static_cast<UnsignedWord<W>>(value) & kMask<W>);
}

// The low W bits of any integer, as int<W>: bit W-1 is the sign.
template <int W, class T>
constexpr Signed<W> to_int(T value) {
  static_assert(W >= 1 && W <= kMaxWidth);
  constexpr int kUnused = static_cast<int>(sizeof(UnsignedWord<W>) * 8) - W;
  const auto shifted = static_cast<UnsignedWord<W>>(value) << kUnused;
  return static_cast<Signed<W>>(static_cast<SignedWord<W>>(shifted) >> kUnused);
}

// Bits [High:Low] of a value.
template <int High, int Low, class T>
constexpr Unsigned<High - Low + 1> slice(T value) {
  static_assert(High >= Low && Low >= 0);
  using Word = std::conditional_t<(sizeof(T) > 8), uint128, std::uint64_t>;
  return to_bit<High - Low + 1>(static_cast<Word>(value) >> Low);
}

// `target` with bits [High:Low] replaced.
template <int W, int High, int Low, class T, class V>
constexpr T with_slice(T target, V value) {
  using Word = UnsignedWord<W>;
  constexpr Word kField = static_cast<Word>(kMask<High - Low + 1>) << Low;
  const Word merged =
      (static_cast<Word>(target) & ~kField) | ((static_cast<Word>(value) << Low) & kField);
  if constexpr (std::is_same_v<T, Unsigned<W>>)
    return to_bit<W>(merged);
  else
    return to_int<W>(merged);
}

// left ++ right, where `right` has RightWidth bits.
template <int W, int RightWidth, class L, class R>
constexpr Unsigned<W> concat(L left, R right) {
  using Word = UnsignedWord<W>;
  return to_bit<W>((static_cast<Word>(left) << RightWidth) |
                   static_cast<Word>(to_bit<RightWidth>(right)));
}

namespace bit_ops {  // bit<W>

template <int W, class T>
constexpr Unsigned<W> add(T a, T b) {
  return to_bit<W>(UnsignedWord<W>{a} + UnsignedWord<W>{b});
}
template <int W, class T>
constexpr Unsigned<W> sub(T a, T b) {
  return to_bit<W>(UnsignedWord<W>{a} - UnsignedWord<W>{b});
}
template <int W, class T>
constexpr Unsigned<W> mul(T a, T b) {
  return to_bit<W>(UnsignedWord<W>{a} * UnsignedWord<W>{b});
}
template <int W, class T>
constexpr Unsigned<W> bit_and(T a, T b) {
  return to_bit<W>(UnsignedWord<W>{a} & UnsignedWord<W>{b});
}
template <int W, class T>
constexpr Unsigned<W> bit_or(T a, T b) {
  return to_bit<W>(UnsignedWord<W>{a} | UnsignedWord<W>{b});
}
template <int W, class T>
constexpr Unsigned<W> bit_xor(T a, T b) {
  return to_bit<W>(UnsignedWord<W>{a} ^ UnsignedWord<W>{b});
}
template <int W, class T>
constexpr Unsigned<W> complement(T a) {
  return to_bit<W>(~UnsignedWord<W>{a});
}
template <int W, class T>
constexpr Unsigned<W> negate(T a) {
  return to_bit<W>(UnsignedWord<W>{0} - UnsignedWord<W>{a});
}

template <int W, class T>
constexpr Unsigned<W> sat_add(T a, T b) {
  return UnsignedWord<W>{b} > kMask<W> - UnsignedWord<W>{a} ? to_bit<W>(kMask<W>) : add<W>(a, b);
}
template <int W, class T>
constexpr Unsigned<W> sat_sub(T a, T b) {
  return b > a ? Unsigned<W>{0} : sub<W>(a, b);
}

// A shift by W or more leaves nothing.
template <int W, class T, class S>
constexpr Unsigned<W> shift_left(T a, S amount) {
  return amount >= W ? Unsigned<W>{0} : to_bit<W>(UnsignedWord<W>{a} << static_cast<int>(amount));
}
template <int W, class T, class S>
constexpr Unsigned<W> shift_right(T a, S amount) {
  return amount >= W ? Unsigned<W>{0} : to_bit<W>(UnsignedWord<W>{a} >> static_cast<int>(amount));
}

}  // namespace bit_ops

namespace int_ops {  // int<W>

template <int W, class T>
constexpr UnsignedWord<W> raw(T a) {
  return static_cast<UnsignedWord<W>>(SignedWord<W>{a});
}

template <int W, class T>
constexpr Signed<W> add(T a, T b) {
  return to_int<W>(raw<W>(a) + raw<W>(b));
}
template <int W, class T>
constexpr Signed<W> sub(T a, T b) {
  return to_int<W>(raw<W>(a) - raw<W>(b));
}
template <int W, class T>
constexpr Signed<W> mul(T a, T b) {
  return to_int<W>(raw<W>(a) * raw<W>(b));
}
template <int W, class T>
constexpr Signed<W> bit_and(T a, T b) {
  return to_int<W>(raw<W>(a) & raw<W>(b));
}
template <int W, class T>
constexpr Signed<W> bit_or(T a, T b) {
  return to_int<W>(raw<W>(a) | raw<W>(b));
}
template <int W, class T>
constexpr Signed<W> bit_xor(T a, T b) {
  return to_int<W>(raw<W>(a) ^ raw<W>(b));
}
template <int W, class T>
constexpr Signed<W> complement(T a) {
  return to_int<W>(~raw<W>(a));
}
template <int W, class T>
constexpr Signed<W> negate(T a) {
  return to_int<W>(UnsignedWord<W>{0} - raw<W>(a));
}

// The value itself, in the wider type. An 8-bit one is a signed char, whose extension is what is
// meant.
template <int W, class T>
constexpr SignedWord<W> extend(T a) {
  return a;  // NOLINT(bugprone-signed-char-misuse)
}

template <int W>
inline constexpr SignedWord<W> kMax = static_cast<SignedWord<W>>(kMask<W> >> 1);
template <int W>
inline constexpr SignedWord<W> kMin = -kMax<W> - 1;

template <int W, class T>
constexpr Signed<W> sat_add(T a, T b) {
  const SignedWord<W> x = extend<W>(a), y = extend<W>(b);
  if (y > 0 && x > kMax<W> - y) return static_cast<Signed<W>>(kMax<W>);
  if (y < 0 && x < kMin<W> - y) return static_cast<Signed<W>>(kMin<W>);
  return static_cast<Signed<W>>(x + y);
}
template <int W, class T>
constexpr Signed<W> sat_sub(T a, T b) {
  const SignedWord<W> x = extend<W>(a), y = extend<W>(b);
  if (y < 0 && x > kMax<W> + y) return static_cast<Signed<W>>(kMax<W>);
  if (y > 0 && x < kMin<W> + y) return static_cast<Signed<W>>(kMin<W>);
  return static_cast<Signed<W>>(x - y);
}

template <int W, class T, class S>
constexpr Signed<W> shift_left(T a, S amount) {
  return amount >= W ? Signed<W>{0} : to_int<W>(raw<W>(a) << static_cast<int>(amount));
}
// Arithmetic: the sign moves in.
template <int W, class T, class S>
constexpr Signed<W> shift_right(T a, S amount) {
  const int bounded = amount >= W ? W - 1 : static_cast<int>(amount);
  return static_cast<Signed<W>>(SignedWord<W>{a} >> bounded);
}

}  // namespace int_ops

}  // namespace turntable::dataplane
