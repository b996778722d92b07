#include "dataplane/aging.h"

#include <algorithm>

#include "dataplane/packet_clock.h"

namespace turntable::dataplane {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

}  // namespace

std::uint64_t Aging::idle_ms(std::uint64_t now_ns) const noexcept {
  return elapsed_since(words_[kSince], now_ns) / kNsPerMs;
}

void Aging::set_ttl_ms(std::uint64_t ttl_ms) noexcept {
  words_[kTtl] = ttl_ms;
  words_[kFlags] &= ~(kIsTold | kHasBegun);
}

std::uint64_t Aging::left_ms(std::uint64_t now_ns) const noexcept {
  if ((words_[kFlags] & kHasBegun) == 0) return words_[kTtl];
  return words_[kTtl] - std::min(words_[kTtl], idle_ms(now_ns));
}

void Aging::set_active(bool is_active) noexcept {
  words_[kFlags] = (words_[kFlags] & ~(kIsActive | kIsHit)) | (is_active ? kIsActive : 0);
}

void Aging::update_active() noexcept {
  set_active((words_[kFlags] & kIsHit) != 0);
}

void Aging::begin(std::uint64_t now_ns) noexcept {
  if ((words_[kFlags] & kHasBegun) != 0) return;
  words_[kSince] = now_ns;
  words_[kFlags] |= kHasBegun;
}

std::uint64_t Aging::idle_ns(std::uint64_t now_ns) noexcept {
  begin(now_ns);
  return elapsed_since(words_[kSince], now_ns);
}

void Aging::share_hits(Aging first, Aging second) noexcept {
  const auto begun = [](Aging aging) { return (aging.words_[kFlags] & kHasBegun) != 0; };
  const bool second_is_later =
      begun(second) && (!begun(first) || second.words_[kSince] > first.words_[kSince]);
  const std::uint64_t since = second_is_later ? second.words_[kSince] : first.words_[kSince];
  const std::uint64_t flags =
      (first.words_[kFlags] | second.words_[kFlags]) & (kIsHit | kHasBegun | kIsHitSinceEvent);
  for (const Aging aging : {first, second}) {
    aging.words_[kSince] = since;
    aging.words_[kFlags] |= flags;
  }
}

Aging::Event Aging::event(std::uint64_t now_ns) noexcept {
  if (words_[kTtl] == 0) return Event::kNone;
  begin(now_ns);
  const bool is_told = (words_[kFlags] & kIsTold) != 0;
  const bool is_hit = (words_[kFlags] & kIsHitSinceEvent) != 0;
  words_[kFlags] &= ~kIsHitSinceEvent;
  // A hit counts although the time has run out again since: first that is told, then the latter.
  const bool is_idle = idle_ms(now_ns) >= words_[kTtl] && !(is_told && is_hit);
  if (is_idle == is_told) return Event::kNone;
  words_[kFlags] ^= kIsTold;
  return is_idle ? Event::kIdle : Event::kActive;
}

}  // namespace turntable::dataplane
