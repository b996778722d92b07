// The Internet checksum (RFC 1071), as TNA's Checksum extern computes it.
#pragma once

#include <cstdint>
#include <span>

namespace turntable::dataplane {

class Checksum {
 public:
  // An odd last byte counts as the high half of a word.
  void add(std::span<const std::uint8_t> data) noexcept { sum_ += sum_of(data); }
  void subtract(std::span<const std::uint8_t> data) noexcept {
    sum_ += 0xFFFF - fold(sum_of(data));
  }
  // The sum, not its complement: a deparser adds it to other fields and complements the whole.
  std::uint16_t get() const noexcept { return fold(sum_); }
  // The parser's error bit: true when the data added, its checksum field included, is inconsistent.
  bool verify() const noexcept { return fold(sum_) != 0xFFFF; }

  static std::uint16_t compute(std::span<const std::uint8_t> data) noexcept {
    return static_cast<std::uint16_t>(~fold(sum_of(data)));
  }

 private:
  static std::uint64_t sum_of(std::span<const std::uint8_t> data) noexcept {
    std::uint64_t sum = 0;
    std::size_t i = 0;
    for (; i + 1 < data.size(); i += 2) sum += static_cast<unsigned>(data[i] << 8 | data[i + 1]);
    if (i < data.size()) sum += static_cast<unsigned>(data[i] << 8);
    return sum;
  }
  static std::uint16_t fold(std::uint64_t sum) noexcept {
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
  }

  std::uint64_t sum_ = 0;
};

}  // namespace turntable::dataplane
