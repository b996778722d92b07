// The clock of packets: timestamps of TNA have 48 bits and begin again after 78 hours.
#pragma once

#include <cstdint>

namespace turntable::dataplane {

inline constexpr std::uint64_t kPacketClockNs = std::uint64_t{1} << 48;

// 0 if `now_ns` lies before: two ports' frames may come a little out of order.
inline constexpr std::uint64_t elapsed_since(std::uint64_t then_ns, std::uint64_t now_ns) {
  const std::uint64_t elapsed_ns = (now_ns - then_ns) % kPacketClockNs;
  return elapsed_ns < kPacketClockNs / 2 ? elapsed_ns : 0;
}

}  // namespace turntable::dataplane
