// How a hash of the control plane's choice is computed: what BfRt's tables NAME.algorithm say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace turntable::dataplane {

struct HashAlgorithm {
  enum class Kind : std::uint8_t { kIdentity, kRandom, kXor, kCrc };

  std::string name;  // BfRt's, of those that are pre-defined
  Kind kind;
  int width;  // bits of a CRC, or of the words of an XOR: 1 to 64
  // Of a CRC, in the notation that is not reversed.
  std::uint64_t polynomial = 0;  // without the leading 1
  std::uint64_t initial = 0;
  std::uint64_t final_xor = 0;
  bool reverse = false;  // bytes and result, least significant bit first
  bool extend = false;   // a wider result is the CRC over and over, otherwise it has zeros above
  bool msb = false;      // kept: a driver of an SDE does nothing with it
};

// `width` is that of the hash, and of the words of XOR. Throws CommandError bad_argument for a name
// that is none of BfRt's.
HashAlgorithm named_hash_algorithm(std::string_view name, int width, bool extend = false);

}  // namespace turntable::dataplane
