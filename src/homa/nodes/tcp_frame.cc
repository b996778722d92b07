#include "homa/nodes/tcp_frame.h"

#include "common/bytes.h"

namespace turntable::homa {

std::array<std::uint8_t, kFrameHeaderBytes> encode_frame(const FrameHeader& header) noexcept {
  std::array<std::uint8_t, kFrameHeaderBytes> bytes;
  store_big_endian(kFrameMagic, bytes.data());
  store_big_endian(header.length, bytes.data() + 4);
  store_big_endian(header.call, bytes.data() + 8);
  return bytes;
}

std::optional<FrameHeader> decode_frame(std::span<const std::uint8_t, kFrameHeaderBytes> bytes,
                                        std::uint32_t max_message_bytes) noexcept {
  if (load_big_endian<std::uint32_t>(bytes.data()) != kFrameMagic) return std::nullopt;
  const FrameHeader header{load_big_endian<std::uint32_t>(bytes.data() + 4),
                           load_big_endian<std::uint64_t>(bytes.data() + 8)};
  if (header.length == 0 || header.length > max_message_bytes) return std::nullopt;
  return header;
}

}  // namespace turntable::homa
