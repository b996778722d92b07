// Random numbers of a program (TNA's Random extern).
#pragma once

#include <cstdint>

#include "dataplane/bits.h"

namespace turntable::dataplane {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one addition and a mix per number, any seed is
// good, and the same seed gives the same packets again.
class Random {
 public:
  void seed(std::uint64_t seed) noexcept { state_ = seed; }

  template <int W>
  Unsigned<W> get() noexcept {
    if constexpr (W > 64) {
      const std::uint64_t high = next();
      return to_bit<W>(wide_constant(high, next()));
    } else {
      return static_cast<Unsigned<W>>(next() >> (64 - W));
    }
  }

 private:
  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  std::uint64_t state_ = 0;
};

}  // namespace turntable::dataplane
