// Reading and writing big-endian fields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace turntable {

template <typename T>
void store_big_endian(T value, std::uint8_t* at) {
  for (std::size_t i = sizeof(T); i-- > 0;) {
    at[i] = static_cast<std::uint8_t>(value);
    value = static_cast<T>(std::uint64_t{value} >> 8U);
  }
}

template <typename T>
T load_big_endian(const std::uint8_t* at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(std::uint64_t{value} << 8U | at[i]);
  }
  return value;
}

// Once too few bytes are left, everything read is zero and empty, and truncated() is true.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  std::span<const std::uint8_t> take(std::size_t count) {
    if (truncated_ || rest_.size() < count) {
      truncated_ = true;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  template <typename T>
  T number() {
    const auto bytes = take(sizeof(T));
    return bytes.empty() ? T{0} : load_big_endian<T>(bytes.data());
  }

  std::size_t left() const { return rest_.size(); }
  bool truncated() const { return truncated_; }

 private:
  std::span<const std::uint8_t> rest_;
  bool truncated_ = false;
};

// Appends to a vector.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::uint8_t>& out) : out_(out) {}

  template <typename T>
  void number(T value) {
    out_.resize(out_.size() + sizeof(T));
    store_big_endian(value, out_.data() + out_.size() - sizeof(T));
  }

  void bytes(std::span<const std::uint8_t> source) {
    out_.insert(out_.end(), source.begin(), source.end());
  }
  void zeros(std::size_t count) { out_.resize(out_.size() + count); }

 private:
  std::vector<std::uint8_t>& out_;
};

// Writes where the caller has made room, and allocates nothing.
class PlacedByteWriter {
 public:
  explicit PlacedByteWriter(std::uint8_t* at) : at_(at) {}

  template <typename T>
  void number(T value) {
    store_big_endian(value, at_);
    at_ += sizeof(T);
  }

  void bytes(std::span<const std::uint8_t> source) {
    at_ = std::copy(source.begin(), source.end(), at_);
  }
  void zeros(std::size_t count) { at_ = std::fill_n(at_, count, std::uint8_t{0}); }

 private:
  std::uint8_t* at_;
};

}  // namespace turntable
