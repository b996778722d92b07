// Digests on their way from a program's deparser to the control plane (TNA's Digest extern).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace turntable::dataplane {

inline constexpr std::size_t kMaxDigestBytes = 48;  // of a learn quantum on Tofino 1
inline constexpr std::size_t kDigestQueueLength = 4096;

struct Digest {
  std::uint32_t filter;                              // place in the schema's learn_filters
  std::uint32_t pipe;                                // where the frame came in
  std::array<std::uint8_t, kMaxDigestBytes> fields;  // each in whole bytes, big-endian
};

// A ring that is written per packet and never allocates. What comes while it is full is lost and
// counted, as when the ASIC's learn quanta are full.
class DigestQueue {
 public:
  void push(std::uint32_t filter, std::uint16_t ingress_port,
            std::span<const std::uint8_t> fields) noexcept;

  // The oldest, or nullptr; valid until pop().
  const Digest* front() const noexcept { return count_ == 0 ? nullptr : &ring_[first_]; }
  void pop() noexcept;

  std::size_t size() const noexcept { return count_; }
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  std::vector<Digest> ring_ = std::vector<Digest>(kDigestQueueLength);
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace turntable::dataplane
