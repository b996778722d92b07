// Shaping: how early the next frame may leave so that a rate in bits/s is kept.
#pragma once

#include <algorithm>
#include <cstdint>

namespace turntable::softswitch {

// Bytes of the frame as it is sent, without preamble, checksum and gap.
struct Rate {
  std::uint64_t bits_per_s = 0;   // 0: not shaped
  std::uint64_t burst_bytes = 0;  // what may leave at once after a pause, beyond one frame

  bool operator==(const Rate&) const = default;
};

inline constexpr std::uint64_t kMaxBitsPerS = 1'000'000'000'000;
inline constexpr std::uint64_t kMaxBurstBytes = 100'000'000;

// A frame leaves while the credit is not negative, and then takes its length from it: so a frame
// may be longer than the burst, and the rate is kept exactly, frame lengths being integers and the
// credit being counted in bits * 10^9.
class TokenBucket {
 public:
  // The bucket is full at `now_ns`.
  void configure(Rate rate, std::uint64_t now_ns) {
    rate_ = rate;
    credit_ = static_cast<std::int64_t>(rate.burst_bytes * 8 * kScale);
    // The part of a nanosecond by which waits are rounded up is not lost.
    capacity_ = credit_;
    if (rate.bits_per_s > 0) capacity_ += static_cast<std::int64_t>(rate.bits_per_s - 1);
    updated_ns_ = now_ns;
  }
  Rate rate() const { return rate_; }
  bool limits() const { return rate_.bits_per_s != 0; }

  // The earliest time from `now_ns` on at which a frame may leave.
  std::uint64_t ready_at(std::uint64_t now_ns) {
    if (!limits()) return now_ns;
    refill(now_ns);
    if (credit_ >= 0) return now_ns;
    const auto debt = static_cast<std::uint64_t>(-credit_);
    return now_ns + (debt + rate_.bits_per_s - 1) / rate_.bits_per_s;
  }

  // After ready_at(now_ns) == now_ns.
  void take(std::uint32_t bytes) {
    if (limits()) credit_ -= static_cast<std::int64_t>(std::uint64_t{bytes} * 8 * kScale);
  }

 private:
  static constexpr std::uint64_t kScale = 1'000'000'000;
  static_assert(kMaxBurstBytes * 8 * kScale + kMaxBitsPerS < (std::uint64_t{1} << 63U));

  void refill(std::uint64_t now_ns) {
    if (now_ns <= updated_ns_) return;
    const std::uint64_t elapsed_ns = now_ns - updated_ns_;
    updated_ns_ = now_ns;
    const auto missing = static_cast<std::uint64_t>(capacity_ - credit_);
    if (elapsed_ns > missing / rate_.bits_per_s) {  // avoids an overflow of the product
      credit_ = capacity_;
    } else {
      credit_ += static_cast<std::int64_t>(elapsed_ns * rate_.bits_per_s);
    }
  }

  Rate rate_;
  std::int64_t capacity_ = 0;
  std::int64_t credit_ = 0;
  std::uint64_t updated_ns_ = 0;
};

}  // namespace turntable::softswitch
