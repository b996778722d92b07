// How Tofino 1 numbers its ports.
#pragma once

#include <cstdint>

namespace turntable::dataplane {

inline constexpr std::uint32_t kPipes = 4;  // at most
inline constexpr std::uint32_t kPortsPerPipe = 128;
inline constexpr std::uint16_t kCpuPort = 64;  // Ethernet, of pipe 0; three more follow
inline constexpr std::uint32_t kFirstRecirculationPort = 68;  // of a pipe, and the next three

// What is sent to these ports comes back as if received there.
inline constexpr bool is_recirculation_port(std::uint16_t port) {
  const std::uint32_t in_pipe = port % kPortsPerPipe;
  return in_pipe >= kFirstRecirculationPort && in_pipe < kFirstRecirculationPort + 4;
}

}  // namespace turntable::dataplane
