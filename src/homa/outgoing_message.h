// A message that is being sent: what of it may be sent, what was, and at which priority.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "homa/settings.h"

namespace turntable::homa {

// Bytes of a message. Where no content is kept (simulations), there is its size alone.
struct Content {
  std::uint32_t size = 0;
  std::vector<std::uint8_t> bytes;  // `size` of them, or none

  std::span<const std::uint8_t> part(std::uint32_t offset, std::uint32_t length) const noexcept {
    if (bytes.empty()) return {};
    return std::span(bytes).subspan(offset, length);
  }
};

class OutgoingMessage {
 public:
  OutgoingMessage() = default;
  OutgoingMessage(Content content, const Settings& settings)
      : content_(std::move(content)),
        unscheduled_(std::min(content_.size, settings.rtt_bytes)),
        limit_(unscheduled_),
        priority_(unscheduled_priority(settings, content_.size)) {}

  std::uint32_t size() const noexcept { return content_.size; }
  std::uint32_t unscheduled() const noexcept { return unscheduled_; }
  std::uint32_t sent() const noexcept { return sent_; }  // all bytes below, at least once
  std::uint32_t left() const noexcept { return content_.size - sent_; }
  std::uint8_t priority() const noexcept { return priority_; }
  bool may_send() const noexcept { return sent_ < limit_; }
  bool all_sent() const noexcept { return sent_ == content_.size; }
  const Content& content() const noexcept { return content_; }
  Content take_content() noexcept { return std::move(content_); }

  // Bytes of the packet that begins at `offset`, a multiple of `payload_bytes`.
  std::uint32_t packet_length(std::uint32_t offset, std::uint32_t payload_bytes) const noexcept {
    return std::min(payload_bytes, content_.size - offset);
  }

  // Bytes below `offset` may be sent, at `priority`. Whatever was asked for before stays. Only full
  // packets are sent, and the last.
  void grant(std::uint32_t offset, std::uint8_t priority, std::uint32_t payload_bytes) noexcept {
    const std::uint64_t whole =
        (std::uint64_t{offset} + payload_bytes - 1) / payload_bytes * payload_bytes;
    const auto limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(whole, content_.size));
    if (limit <= limit_) return;
    limit_ = limit;
    priority_ = priority;
  }

  void count_sent(std::uint32_t bytes, std::uint64_t tick) noexcept {
    sent_ += bytes;
    last_sent_tick_ = tick;
  }
  // Nothing was sent since the tick before the last.
  bool is_quiet_at(std::uint64_t tick) const noexcept { return last_sent_tick_ + 1 < tick; }
  void count_sent_again(std::uint64_t tick) noexcept { last_sent_tick_ = tick; }

  // From its first byte again.
  void restart(const Settings& settings) noexcept {
    sent_ = 0;
    limit_ = unscheduled_;
    priority_ = unscheduled_priority(settings, content_.size);
  }

 private:
  Content content_;
  std::uint32_t unscheduled_ = 0;
  std::uint32_t limit_ = 0;  // bytes below it may be sent
  std::uint32_t sent_ = 0;
  std::uint64_t last_sent_tick_ = 0;
  std::uint8_t priority_ = 0;
};

}  // namespace turntable::homa
