// What messages say: bytes that follow from their number, so that whoever gets them knows whether
// they are right.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "homa/outgoing_message.h"
#include "workload/random.h"

namespace turntable::homa {

class Contents {
 public:
  explicit Contents(std::uint64_t seed) {
    workload::Random random(seed);
    for (std::uint8_t& byte : block_) byte = static_cast<std::uint8_t>(random.next() >> 32U);
  }

  Content of(std::uint64_t number, std::uint32_t bytes) const {
    Content content{bytes, std::vector<std::uint8_t>(bytes)};
    for_parts(number, bytes, [&](std::uint32_t at, const std::uint8_t* part, std::uint32_t size) {
      std::memcpy(content.bytes.data() + at, part, size);
      return true;
    });
    return content;
  }

  // Whether the first `bytes` of it are those of this number.
  bool begins(const Content& content, std::uint64_t number, std::uint32_t bytes) const {
    if (content.bytes.size() < bytes) return false;
    return for_parts(number, bytes,
                     [&](std::uint32_t at, const std::uint8_t* part, std::uint32_t size) {
                       return std::memcmp(content.bytes.data() + at, part, size) == 0;
                     });
  }

 private:
  static constexpr std::uint32_t kBlockBytes = 65'521;  // a prime: parts of a message differ

  template <typename Part>
  bool for_parts(std::uint64_t number, std::uint32_t bytes, Part part) const {
    auto from = static_cast<std::uint32_t>(number * 7919 % kBlockBytes);
    for (std::uint32_t at = 0; at < bytes;) {
      const std::uint32_t size = std::min(bytes - at, kBlockBytes - from);
      if (!part(at, block_.data() + from, size)) return false;
      at += size;
      from = 0;
    }
    return true;
  }

  std::array<std::uint8_t, kBlockBytes> block_;
};

}  // namespace turntable::homa
