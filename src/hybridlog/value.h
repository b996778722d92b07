// A value in its reader's memory: bytes of any number, which is 8 where nothing else is said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace turntable::hybridlog {

using Bytes = std::span<const std::byte>;

// The longest value of any store; LogSettings::most_value_bytes() is that of one.
inline constexpr std::size_t kMostValueBytes = std::size_t{64} << 10U;

// A number of 8 bytes, little-endian as all is that is written.
inline Bytes bytes_of(const std::uint64_t& number) noexcept {
  return std::as_bytes(std::span(&number, 1));
}
// Of at least 8 bytes, the first ones.
inline std::uint64_t number_of(Bytes bytes) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

// Its memory is kept for the next value.
class Value {
 public:
  static constexpr std::size_t words_of(std::size_t bytes) noexcept { return (bytes + 7) / 8; }

  std::size_t size() const noexcept { return size_; }
  Bytes bytes() const noexcept { return std::as_bytes(std::span(words_)).first(size_); }
  // The first 8 bytes; of a shorter value with zeros behind it.
  std::uint64_t number() const noexcept { return words_.empty() ? 0 : words_.front(); }

  void assign(Bytes bytes) {
    resize(bytes.size());
    if (!bytes.empty()) std::memcpy(words_.data(), bytes.data(), bytes.size());
  }
  // All zeros.
  void resize(std::size_t bytes) {
    words_.assign(words_of(bytes), 0);
    size_ = bytes;
  }
  std::span<std::uint64_t> words() noexcept { return words_; }

  // To the number in its first 8 bytes. False: it is too short, and was not changed.
  bool add(std::uint64_t delta) noexcept {
    if (size_ < sizeof delta) return false;
    words_.front() += delta;
    return true;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace turntable::hybridlog
