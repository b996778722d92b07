#include "farreach/kv/value.h"

#include <algorithm>
#include <array>

namespace turntable::kv {
namespace {

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

// Calls visit(offset, bytes of that word) for the words after the version, until it answers false.
// All but a last, shorter one have a size known at compile time, so that no function is called to
// copy or compare them.
template <typename Visit>
bool for_each_word(std::size_t size, workload::KeyId key, std::uint64_t version, Visit visit) {
  SplitMix64 random(key ^ SplitMix64(version).next());
  const auto next_word = [&] {
    std::array<std::uint8_t, 8> word;
    std::uint64_t bits = random.next();
    for (std::uint8_t& byte : word) {
      byte = static_cast<std::uint8_t>(bits);
      bits >>= 8;
    }
    return word;
  };
  std::size_t offset = 8;
  for (; offset + 8 <= size; offset += 8) {
    const auto word = next_word();
    if (!visit(offset, std::span(word))) return false;
  }
  if (offset >= size) return true;
  const auto word = next_word();
  return visit(offset, std::span(word).first(size - offset));
}

}  // namespace

void fill_value(std::span<std::uint8_t> value, workload::KeyId key,
                std::uint64_t version) noexcept {
  for (std::size_t i = 0; i < std::min<std::size_t>(8, value.size()); ++i) {
    value[i] = static_cast<std::uint8_t>(version >> (56 - 8 * i));
  }
  for_each_word(value.size(), key, version, [&](std::size_t offset, auto word) {
    std::copy(word.begin(), word.end(), value.begin() + static_cast<std::ptrdiff_t>(offset));
    return true;
  });
}

std::uint64_t value_version(std::span<const std::uint8_t> value) noexcept {
  std::uint64_t version = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(8, value.size()); ++i)
    version |= std::uint64_t{value[i]} << (56 - 8 * i);
  return version;
}

bool value_matches(std::span<const std::uint8_t> value, workload::KeyId key) noexcept {
  if (value.size() <= 8) return true;
  return for_each_word(value.size(), key, value_version(value), [&](std::size_t offset, auto word) {
    return std::equal(word.begin(), word.end(),
                      value.begin() + static_cast<std::ptrdiff_t>(offset));
  });
}

}  // namespace turntable::kv
