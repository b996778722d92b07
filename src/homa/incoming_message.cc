#include "homa/incoming_message.h"

#include <algorithm>

namespace turntable::homa {

IncomingMessage::IncomingMessage(std::uint32_t total, std::uint32_t unscheduled,
                                 std::uint32_t payload_bytes)
    : total_(total),
      unscheduled_(unscheduled),
      payload_bytes_(payload_bytes),
      granted_(unscheduled),
      came_((std::uint64_t{total} + payload_bytes - 1) / payload_bytes) {}

bool IncomingMessage::is_packet_of(std::uint32_t total, std::uint32_t offset, std::uint32_t length,
                                   std::uint32_t payload_bytes) noexcept {
  return offset < total && offset % payload_bytes == 0 &&
         length == std::min(payload_bytes, total - offset);
}

bool IncomingMessage::add(std::uint32_t offset, std::uint32_t length,
                          std::span<const std::uint8_t> payload) {
  const std::size_t packet = offset / payload_bytes_;
  if (came_[packet]) return false;
  came_[packet] = true;
  if (!payload.empty()) {
    bytes_.resize(total_);
    std::copy(payload.begin(), payload.end(), bytes_.begin() + offset);
  }
  // A sender that heard of a grant that we did not make (a RESEND's) may be ahead of it.
  granted_ = std::max(granted_, offset + length);
  while (contiguous_ < total_ && came_[contiguous_ / payload_bytes_])
    contiguous_ = std::min(total_, contiguous_ + payload_bytes_);
  return true;
}

IncomingMessage::Gap IncomingMessage::first_gap() const noexcept {
  std::uint32_t end = contiguous_;
  while (end < granted_ && !came_[end / payload_bytes_])
    end = std::min(granted_, end + payload_bytes_);
  return {contiguous_, end - contiguous_};
}

}  // namespace turntable::homa
