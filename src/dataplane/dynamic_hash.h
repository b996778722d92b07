// A hash that the control plane may configure: BfRt's tables NAME.configure and NAME.algorithm. As
// long as nobody does, the program computes it in its own, fixed way, for the price of one branch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/hash_algorithm.h"
#include "dataplane/hash_matrix.h"

namespace turntable::dataplane {

struct HashField {
  std::string name;
  int width;         // bits
  bool is_constant;  // of the program
};

// What the program hashes. Bits are counted from the last one of the input, a HashInput.
struct HashShape {
  struct Pair {
    int first, second;  // the lowest bits of two fields that may change places, of `width` bits
    int width;
  };
  int bits;          // without zeros that fill up a byte
  int zeros_behind;  // the others are before
  int width;         // bits of the result, up to 64
  int used_low;      // the program uses only `used_bits` bits of it, from this one on
  int used_bits;
  std::vector<HashField> fields;  // side by side, the first one first; none: no list is hashed
  std::vector<Pair> pairs;        // of @symmetric
  std::vector<std::uint64_t> constants;  // an input with 0 for all that is no constant
};

// A part of a field that counts. Two of one order, of equal lengths, may change places.
struct HashSlice {
  std::size_t field;  // its place in HashShape::fields
  int start_bit;
  int length;
  std::uint64_t order;  // 0: it does not count
};

// The thread of the pipeline sets and computes.
class DynamicHash {
 public:
  DynamicHash(HashShape shape, HashAlgorithm algorithm)
      : shape_(std::move(shape)),
        own_algorithm_(std::move(algorithm)),
        algorithm_(own_algorithm_) {}

  bool configured() const noexcept { return matrix_ != nullptr; }
  // The hash of an input, configured or not. Programs give its words one by one, so that they need
  // no place in memory where nobody configures it.
  template <class... Words>
  [[gnu::noinline, gnu::cold]] std::uint64_t of(Words... words) const {
    return value_of(std::array<std::uint64_t, sizeof...(words)>{words...});
  }
  std::uint64_t value_of(std::span<const std::uint64_t> words) const;

  // What the control plane has set.
  bool sets_slices() const { return slices_.has_value(); }
  bool sets_algorithm() const { return !has_own_algorithm_; }
  bool sets_seed() const { return seed_.has_value(); }

  const HashShape& shape() const { return shape_; }
  const HashAlgorithm& algorithm() const { return algorithm_; }
  int rotation() const { return rotation_; }
  std::uint64_t seed() const;  // before the rotation
  // In ascending order of `order`.
  std::vector<HashSlice> slices() const;
  // The lowest bit of a field in the input.
  int lowest_bit(std::size_t field) const;

  // Slices lie within their fields and do not overlap; at most two have one order. The shape has no
  // pairs.
  void set_slices(std::vector<HashSlice> slices);
  void reset_slices();
  // `rotation` is below shape().used_bits. The seed is that of the algorithm.
  void set_algorithm(HashAlgorithm algorithm, int rotation);
  void set_seed(std::uint64_t seed);
  void reset_algorithm();

 private:
  HashMatrix matrix(bool rotated) const;
  void changed();

  HashShape shape_;
  HashAlgorithm own_algorithm_;  // the program's

  std::optional<std::vector<HashSlice>> slices_;  // sorted
  bool has_own_algorithm_ = true;
  HashAlgorithm algorithm_;
  int rotation_ = 0;
  std::optional<std::uint64_t> seed_;

  std::unique_ptr<const HashMatrix> matrix_;  // nullptr: as in the program
};

}  // namespace turntable::dataplane
