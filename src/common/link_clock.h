// When a link is free: one frame after the other, each for as long as its bytes take.
//
// The clock is virtual: whoever serves it late says when a frame could have begun, and loses
// nothing; a link that has nothing to send earns nothing.
#pragma once

#include <algorithm>
#include <cstdint>

namespace turntable {

struct Link {
  std::uint64_t bits_per_s = 0;  // 0: frames take no time
  // Of each frame, beside the bytes that a program sees of it: preamble 8, check sequence 4,
  // gap 12.
  std::uint32_t overhead_bytes = 24;

  bool operator==(const Link&) const = default;
};

class LinkClock {
 public:
  void configure(Link link) noexcept { link_ = link; }
  Link link() const noexcept { return link_; }
  bool limits() const noexcept { return link_.bits_per_s != 0; }

  // The last frame has left by then.
  std::uint64_t free_at_ns() const noexcept { return free_at_ns_ + (fraction_ > 0 ? 1 : 0); }

  // A frame of `bytes` bytes that could begin at `ready_ns` follows the last one. When it has
  // left, rounded up; what is rounded is kept.
  std::uint64_t send(std::uint64_t ready_ns, std::uint32_t bytes) noexcept {
    if (ready_ns >= free_at_ns()) {
      free_at_ns_ = ready_ns;
      fraction_ = 0;
    }
    const std::uint64_t bits = (std::uint64_t{bytes} + link_.overhead_bytes) * 8;
    const std::uint64_t scaled = fraction_ + bits * kNsPerSecond;
    free_at_ns_ += scaled / link_.bits_per_s;
    fraction_ = scaled % link_.bits_per_s;
    return free_at_ns();
  }

 private:
  static constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

  Link link_;
  std::uint64_t free_at_ns_ = 0;
  std::uint64_t fraction_ = 0;  // of a nanosecond, in units of 1 / bits_per_s
};

}  // namespace turntable
