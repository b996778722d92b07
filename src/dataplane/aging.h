// The age of a table's entries (idle time-outs): how long ago a packet hit each, in words of the
// entry, where the table ages (table.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace turntable::dataplane {

// So many words of an entry, its last.
inline constexpr std::size_t kAgingWords = 3;

// A view of these words.
class Aging {
 public:
  enum class Event : std::uint8_t { kNone, kIdle, kActive };

  explicit Aging(std::uint64_t* words) noexcept : words_(words) {}

  // A packet hits the entry.
  void hit(std::uint64_t now_ns) noexcept {
    words_[kSince] = now_ns;
    words_[kFlags] |= kIsHit | kHasBegun | kIsHitSinceEvent;
  }

  // Milliseconds without a hit until the entry is idle; 0: it never is. It begins anew.
  void set_ttl_ms(std::uint64_t ttl_ms) noexcept;
  std::uint64_t ttl_ms() const noexcept { return words_[kTtl]; }
  // Of these, what is left.
  std::uint64_t left_ms(std::uint64_t now_ns) const noexcept;

  // Whether it had been hit when that was last updated, or what was set since.
  bool is_active() const noexcept { return (words_[kFlags] & kIsActive) != 0; }
  void set_active(bool is_active) noexcept;
  // It is active if it has been hit since the last call.
  void update_active() noexcept;

  // Since it was last hit; before that, since this or event() was first called.
  std::uint64_t idle_ns(std::uint64_t now_ns) noexcept;
  // Two that are of one entry, in two pipes: the later hit is that of both.
  static void share_hits(Aging first, Aging second) noexcept;

  // What has become of an entry with a time to live since the last call.
  Event event(std::uint64_t now_ns) noexcept;

 private:
  enum Word : std::uint8_t { kSince, kTtl, kFlags };
  static constexpr std::uint64_t kIsHit = 1;
  static constexpr std::uint64_t kIsActive = 2;
  static constexpr std::uint64_t kIsTold = 4;  // that it is idle
  static constexpr std::uint64_t kHasBegun = 8;
  static constexpr std::uint64_t kIsHitSinceEvent = 16;  // since the last call of event()

  void begin(std::uint64_t now_ns) noexcept;
  std::uint64_t idle_ms(std::uint64_t now_ns) const noexcept;

  std::uint64_t* words_;
};

}  // namespace turntable::dataplane
