#include "homa/grant_scheduler.h"

#include <algorithm>

namespace turntable::homa {

void GrantScheduler::received(Receiving& receiving) {
  const IncomingMessage& message = receiving.message;
  if (message.fully_granted()) {
    waiting_.erase(receiving.place);
  } else if (receiving.place.taken()) {
    waiting_.update(receiving.place, message.remaining());
  } else {
    waiting_.insert(receiving.place, message.remaining(), receiving.number, receiving);
  }
}

void GrantScheduler::collect_active() {
  active_.clear();
  for (const auto& entry : waiting_) {
    const bool sender_is_active =
        std::any_of(active_.begin(), active_.end(),
                    [&](const Receiving* other) { return other->sender == entry.item->sender; });
    if (sender_is_active) continue;
    active_.push_back(entry.item);
    if (active_.size() == settings_.degree) return;
  }
}

Receiving* GrantScheduler::grant() {
  collect_active();
  for (std::size_t rank = 0; rank < active_.size(); ++rank) {
    Receiving& receiving = *active_[rank];
    IncomingMessage& message = receiving.message;
    if (message.granted() >= message.contiguous() + settings_.rtt_bytes) continue;
    receiving.granted_priority = priority(message, rank, active_.size());
    message.grant(std::min(message.granted() + settings_.payload_bytes, message.total()));
    if (message.fully_granted()) waiting_.erase(receiving.place);
    return &receiving;
  }
  return nullptr;
}

// Few active messages have the lowest levels, so that a shorter one that comes has one above them.
std::uint8_t GrantScheduler::scheduled_priority(std::size_t rank,
                                                std::size_t active) const noexcept {
  const std::size_t best = std::min<std::size_t>(active - 1, highest_scheduled_priority(settings_));
  return static_cast<std::uint8_t>(best > rank ? best - rank : 0);
}

// The tail of a message is sent as a message of that size would be: there is nothing left to be
// chosen for its sender.
std::uint8_t GrantScheduler::priority(const IncomingMessage& message, std::size_t rank,
                                      std::size_t active) const noexcept {
  if (message.total() - message.granted() > settings_.rtt_bytes)
    return scheduled_priority(rank, active);
  return unscheduled_priority(settings_,
                              std::min(settings_.rtt_bytes, message.total() - settings_.rtt_bytes));
}

bool grant_independently(const Settings& settings, Receiving& receiving) noexcept {
  IncomingMessage& message = receiving.message;
  if (message.fully_granted()) return false;
  const std::uint64_t near = std::uint64_t{message.contiguous()} + settings.rtt_bytes;
  if (message.granted() >= near) return false;
  const std::uint64_t ahead =
      near + std::uint64_t{settings.independent_ahead_packets} * settings.payload_bytes;
  message.grant(static_cast<std::uint32_t>(std::min<std::uint64_t>(ahead, message.total())));
  receiving.granted_priority = 0;
  return true;
}

}  // namespace turntable::homa
