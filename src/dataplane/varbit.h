// A field of a header whose length each packet says (P4's varbit), in whole bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace turntable::dataplane {

template <std::uint32_t Most>
class Varbit {
 public:
  static constexpr std::uint32_t kMost = Most;  // bytes

  std::uint32_t length() const noexcept { return length_; }
  // Precondition: length <= Most.
  void extract(const std::uint8_t* bytes, std::uint32_t length) noexcept {
    length_ = length;
    bytes_ = {};
    std::copy_n(bytes, length, bytes_.begin());
  }
  void emit(std::uint8_t* bytes) const noexcept { std::copy_n(bytes_.begin(), length_, bytes); }

  bool operator==(const Varbit&) const = default;

 private:
  std::uint32_t length_ = 0;
  std::array<std::uint8_t, Most> bytes_{};
};

}  // namespace turntable::dataplane
