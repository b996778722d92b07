// A digest of a set of keys that does not depend on their order.
#pragma once

#include <cstdint>
#include <string>

#include "workload/key.h"

namespace turntable::cache {

using Key = workload::KeyBytes;  // as on the wire

// Both ends of a comparison compute it, as a check against mistakes, not against malice.
class SetDigest {
 public:
  void add(const Key& key) { sum_ += hash(key); }
  void remove(const Key& key) { sum_ -= hash(key); }
  std::uint64_t value() const { return sum_; }

 private:
  static std::uint64_t hash(const Key& key);
  std::uint64_t sum_ = 0;
};

// As commands show it: 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);

}  // namespace turntable::cache
