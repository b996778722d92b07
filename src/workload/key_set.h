// A set of key numbers, one bit each.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace turntable::workload {

class KeySet {
 public:
  // Holds key numbers 0 .. key_numbers - 1; starts empty.
  explicit KeySet(std::uint64_t key_numbers) : words_(key_numbers / 64 + 1) {}

  bool contains(std::uint64_t key_number) const {
    // The bits of 10^8 keys do not fit a processor cache; the filter does, and mostly says no.
    const std::uint64_t hint = key_number % kFilterBits;
    if (((filter_[hint / 64] >> (hint % 64)) & 1) == 0) return false;
    return ((words_[key_number / 64] >> (key_number % 64)) & 1) != 0;
  }

  // True if the key number was not in the set before.
  bool insert(std::uint64_t key_number) {
    const bool added = !contains(key_number);
    words_[key_number / 64] |= std::uint64_t{1} << (key_number % 64);
    const std::uint64_t hint = key_number % kFilterBits;
    filter_[hint / 64] |= std::uint64_t{1} << (hint % 64);
    size_ += added ? 1 : 0;
    return added;
  }

  std::uint64_t size() const { return size_; }

 private:
  static constexpr std::uint64_t kFilterBits = 1 << 17;  // 16 KiB

  std::array<std::uint64_t, kFilterBits / 64> filter_{};
  std::vector<std::uint64_t> words_;
  std::uint64_t size_ = 0;
};

}  // namespace turntable::workload
