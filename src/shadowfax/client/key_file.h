// A file of keys, as the original's loader reads it: 64-bit little-endian numbers and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace turntable::shadowfax {

class KeyFile {
 public:
  // Throws std::runtime_error where it cannot be read, is empty, has a part of a key at its end, or
  // other than `expected` keys.
  explicit KeyFile(const std::string& path, std::optional<std::uint64_t> expected = {});
  ~KeyFile();
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;

  // The file must not become shorter meanwhile.
  std::span<const std::uint64_t> keys() const noexcept { return keys_; }

 private:
  std::span<const std::uint64_t> keys_;
};

}  // namespace turntable::shadowfax
