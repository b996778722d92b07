// A header stack: P4-16 specification, section 8.18.
#pragma once

#include <array>
#include <cstdint>

namespace turntable::dataplane {

template <class Header, std::uint32_t Size>
struct HeaderStack {
  std::array<Header, Size> items{};
  std::uint32_t next = 0;  // how many elements the parser filled

  bool full() const noexcept { return next >= Size; }
  // Precondition: next > 0; a stack without elements gives its first, which is invalid.
  Header& last() noexcept { return items[next == 0 ? 0 : next - 1]; }
  std::uint32_t last_index() const noexcept { return next - 1; }

  void push_front(std::uint32_t count) noexcept {
    for (std::uint32_t i = Size; i-- > 0;) items[i] = i >= count ? items[i - count] : Header{};
    next = next + count < Size ? next + count : Size;
  }
  void pop_front(std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < Size; ++i)
      items[i] = i + count < Size ? items[i + count] : Header{};
    next = next > count ? next - count : 0;
  }

  bool operator==(const HeaderStack& other) const noexcept { return items == other.items; }
};

}  // namespace turntable::dataplane
