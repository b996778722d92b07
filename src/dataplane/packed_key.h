// Table keys packed into 64-bit words: field after field, the first at bit 0 of word 0, with no
// gaps. The layout is fixed by the schema's order and widths, so that generated code (offsets known
// at compile time) and the control plane (offsets computed from the schema) agree.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "dataplane/bits.h"

namespace turntable::dataplane {

template <int Words>
using KeyWords = std::array<std::uint64_t, Words>;

constexpr int words_for(int bits) {
  return (bits + 63) / 64;
}

// Copies `width` bits of `value` to bit `offset` of `words`; the field was zero before.
constexpr void pack_field(std::uint64_t* words, int offset, int width, uint128 value) {
  int taken = 0;
  while (taken < width) {
    const int word = (offset + taken) / 64, shift = (offset + taken) % 64;
    words[word] |= static_cast<std::uint64_t>(value >> taken) << shift;
    taken += 64 - shift;
  }
}

constexpr uint128 unpack_field(const std::uint64_t* words, int offset, int width) {
  if (offset % 64 + width <= 64)  // of one word: a shift and a mask
    return (words[offset / 64] >> (offset % 64)) & (~std::uint64_t{0} >> (64 - width));
  uint128 value = 0;
  int taken = 0;
  while (taken < width) {
    const int word = (offset + taken) / 64, shift = (offset + taken) % 64;
    value |= static_cast<uint128>(words[word] >> shift) << taken;
    taken += 64 - shift;
  }
  return width >= 128 ? value : value & ((uint128{1} << width) - 1);
}

struct PackedField {
  int offset, width;
  uint128 value;
};

// For const entries: `bits` is the width of the whole key.
inline std::vector<std::uint64_t> pack_words(int bits, std::initializer_list<PackedField> fields) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(words_for(bits)));
  for (const auto& [offset, width, value] : fields) pack_field(words.data(), offset, width, value);
  return words;
}

template <int Offset, int Width, class Key>
constexpr void put_key(Key& key, Unsigned<Width> value) {
  pack_field(key.data(), Offset, Width, value);
}

}  // namespace turntable::dataplane
