#include "farreach/cache/set_digest.h"

#include <array>
#include <cstdio>

namespace turntable::cache {

std::uint64_t SetDigest::hash(const Key& key) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < key.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < 8; ++j) word = word << 8 | key[i + j];
    hash = workload::fnv_hash(hash ^ word);
  }
  return hash;
}

std::string digest_text(std::uint64_t digest) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(digest));
  return text.data();
}

}  // namespace turntable::cache
