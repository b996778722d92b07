// A message that is being received: which packets of it came, and what was granted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "homa/outgoing_message.h"

namespace turntable::homa {

class IncomingMessage {
 public:
  IncomingMessage() = default;
  // `unscheduled` bytes come without a grant.
  IncomingMessage(std::uint32_t total, std::uint32_t unscheduled, std::uint32_t payload_bytes);

  bool started() const noexcept { return total_ > 0; }
  bool complete() const noexcept { return started() && contiguous_ == total_; }
  bool is_scheduled() const noexcept {
    return unscheduled_ < total_;
  }  // longer than what comes by itself
  std::uint32_t total() const noexcept { return total_; }
  std::uint32_t contiguous() const noexcept { return contiguous_; }  // all bytes below have come
  std::uint32_t remaining() const noexcept { return total_ - contiguous_; }
  std::uint32_t granted() const noexcept { return granted_; }
  bool fully_granted() const noexcept { return granted_ == total_; }
  // All that its sender may send is here.
  bool waits_for_grant() const noexcept { return contiguous_ >= granted_; }

  // Messages are cut into full packets and a last one.
  static bool is_packet_of(std::uint32_t total, std::uint32_t offset, std::uint32_t length,
                           std::uint32_t payload_bytes) noexcept;

  // A packet of this message. False: it came before.
  bool add(std::uint32_t offset, std::uint32_t length, std::span<const std::uint8_t> payload);

  void grant(std::uint32_t offset) noexcept { granted_ = offset; }

  struct Gap {
    std::uint32_t offset;
    std::uint32_t length;
  };
  // What is missing first of what its sender may send. Not if waits_for_grant().
  Gap first_gap() const noexcept;

  Content take_content() noexcept { return {total_, std::move(bytes_)}; }

 private:
  std::uint32_t total_ = 0;
  std::uint32_t unscheduled_ = 0;
  std::uint32_t payload_bytes_ = 1;
  std::uint32_t granted_ = 0;
  std::uint32_t contiguous_ = 0;
  std::vector<bool> came_;  // by packet
  std::vector<std::uint8_t> bytes_;
};

}  // namespace turntable::homa
