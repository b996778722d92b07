// x % m for one m and many x, without a division.
#pragma once

#include <cstdint>

namespace turntable::workload {

class Modulo {
 public:
  // `modulus` >= 1.
  explicit constexpr Modulo(std::uint64_t modulus)
      : modulus_(modulus), reciprocal_(~std::uint64_t{0} / modulus) {}

  constexpr std::uint64_t operator()(std::uint64_t x) const {
    __extension__ using Product = unsigned __int128;
    // The quotient may be too small, by at most 2: x * reciprocal / 2^64 > x / modulus - 2.
    const auto quotient = static_cast<std::uint64_t>((Product{x} * reciprocal_) >> 64);
    std::uint64_t rest = x - quotient * modulus_;
    if (rest >= modulus_) rest -= modulus_;
    if (rest >= modulus_) rest -= modulus_;
    return rest;
  }

 private:
  std::uint64_t modulus_;
  std::uint64_t reciprocal_;
};

}  // namespace turntable::workload
