// A hash as the unit of a Tofino has it: a matrix over GF(2) and a seed. Every algorithm that the
// control plane may choose is one, so that fields, order and algorithm cost a packet nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/hash_algorithm.h"

namespace turntable::dataplane {

class HashMatrix {
 public:
  // `message`: the bits that are hashed, the last one first, as places in an input of `bytes`
  // bytes, counted from its last bit. `width`: bits of the result, up to 64.
  HashMatrix(const HashAlgorithm& algorithm, std::span<const int> message, int bytes, int width);

  // The bits at the places `first` count as if they were added to those at `second` and, if `both`,
  // the other way round as well: then the hash is the same when they change places.
  void add_symmetry(int first, int second, bool both);

  std::uint64_t seed() const noexcept { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed; }
  // Bit i of the `bits` bits from `low` on becomes bit i + by of them, the last ones the first.
  void rotate(int low, int bits, int by);

  // After the last change: makes the tables that `of` reads.
  void finish();

  // The last bit of the input is bit 0 of word 0.
  std::uint64_t of(std::span<const std::uint64_t> words) const noexcept {
    std::uint64_t result = seed_;
    for (std::size_t i = 0; i < tables_.size(); ++i)
      result ^= tables_[i][words[i / 8] >> 8 * (i % 8) & 0xFF];
    return result;
  }

 private:
  std::uint64_t seed_ = 0;
  std::vector<std::uint64_t> columns_;  // by a bit's place in the input: what it adds
  std::vector<std::array<std::uint64_t, 256>> tables_;  // by its bytes, the last one first
};

}  // namespace turntable::dataplane
