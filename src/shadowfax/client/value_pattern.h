// What clients store behind a value's first 8 bytes, which are a counter: bytes that say whether a
// value is that of its key, and whole.
//
//   counter u64 | mark u64 | words that follow from key and mark     (cut where the value ends)
//
// Every write has a mark of its own, so bytes of two writes of a key do not go together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "workload/random.h"

namespace turntable::shadowfax {

class ValuePattern {
 public:
  ValuePattern(std::uint64_t key, std::uint64_t mark) noexcept
      : mark_(mark), first_(workload::SplitMix64::mix(key ^ workload::SplitMix64::mix(mark))) {}

  // rest: of a value, behind its counter.
  void write(std::span<std::byte> rest) const noexcept {
    for_each_word(rest.size(), [&](std::size_t at, std::uint64_t word, std::size_t bytes) {
      std::memcpy(rest.data() + at, &word, bytes);
      return true;
    });
  }
  // Whether the rest is what somebody has written under the key.
  static bool is_right(std::uint64_t key, std::span<const std::byte> rest) noexcept {
    std::uint64_t mark = 0;
    if (!rest.empty()) std::memcpy(&mark, rest.data(), std::min(rest.size(), sizeof mark));
    return ValuePattern(key, mark).is_in(rest);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;

  bool is_in(std::span<const std::byte> rest) const noexcept {
    return for_each_word(rest.size(), [&](std::size_t at, std::uint64_t word, std::size_t bytes) {
      return std::memcmp(rest.data() + at, &word, bytes) == 0;
    });
  }
  // Until `take` says no.
  template <typename Take>
  bool for_each_word(std::size_t size, const Take& take) const noexcept {
    std::uint64_t word = mark_;
    for (std::size_t at = 0; at < size; at += sizeof word) {
      if (!take(at, word, std::min(sizeof word, size - at))) return false;
      word = first_ + at / sizeof word * kStep;
    }
    return true;
  }

  const std::uint64_t mark_, first_;
};

}  // namespace turntable::shadowfax
