// How messages are told apart in TCP's stream of bytes: each has 16 bytes before it, big-endian.
//
//     magic 32 | length 32 | call 64
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace turntable::homa {

inline constexpr std::size_t kFrameHeaderBytes = 16;
inline constexpr std::uint32_t kFrameMagic = 0x6d736762;  // "msgb"

struct FrameHeader {
  std::uint32_t length = 0;  // of the message, at least 1
  std::uint64_t call = 0;    // the client's number; the answer has the same
};

std::array<std::uint8_t, kFrameHeaderBytes> encode_frame(const FrameHeader& header) noexcept;

// Nothing: it is none, or its message has more than `max_message_bytes`.
std::optional<FrameHeader> decode_frame(std::span<const std::uint8_t, kFrameHeaderBytes> bytes,
                                        std::uint32_t max_message_bytes) noexcept;

}  // namespace turntable::homa
