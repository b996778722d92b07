// Timers in steps of 10 us, for loops that have many of them: set, cancelled and expired in O(1).
//
// Seven wheels of 64 slots, each slot as long as the whole wheel before it:
//
//   wheel 0    slots of 10 us     up to 0.64 ms ahead
//   wheel 1    slots of 0.64 ms   up to 41 ms
//   ...
//   wheel 6    slots of 8 days    up to 509 days
//
// A timer lies in the first wheel in which it has a slot after the present one. When time enters a
// slot of wheel n > 0, its timers move to the wheels before. A bit per slot says whether it has
// timers, so time is skipped in which there are none.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace turntable::net {

// The timers are 0 .. capacity - 1; whoever uses the wheel knows what each is for. Allocates only
// in the constructor. For one thread.
class TimerWheel {
 public:
  static constexpr std::int64_t kStepNs = 10'000;

  // Time begins at `now_ns` and ends 509 days later.
  TimerWheel(std::size_t capacity, std::int64_t now_ns) : timers_(capacity), begin_ns_(now_ns) {}

  // Expires at the end of the step that `at_ns` lies in: not before `at_ns`, and less than a step
  // after. What is due already, at the end of the present step. A timer that was set is set anew.
  void set(std::uint32_t timer, std::int64_t at_ns) noexcept {
    cancel(timer);
    const std::int64_t ahead_ns = at_ns - begin_ns_;
    const std::int64_t step = ahead_ns / kStepNs + (ahead_ns % kStepNs > 0 ? 1 : 0);
    timers_[timer].step = std::min(std::max(step, now_ + 1), kLastStep);
    place(timer);
    ++size_;
  }

  void cancel(std::uint32_t timer) noexcept {
    if (!is_set(timer)) return;
    remove(timer);
    --size_;
  }

  bool is_set(std::uint32_t timer) const noexcept { return timers_[timer].slot != kNoSlot; }
  std::size_t size() const noexcept { return size_; }  // timers that are set

  // When expire() has something to do: INT64_MAX if nothing is set. Not after the first timer; so
  // much before it that whoever sleeps until then wakes up at most 6 times for nothing.
  std::int64_t next_ns() const noexcept {
    return wheels_ == 0 ? INT64_MAX : begin_ns_ + begin_of(first_slot()) * kStepNs;
  }

  // Calls call(timer) for what expires up to `now_ns`: by step, in a step by the order of set().
  // The timer is not set any more, and the call may set and cancel any.
  template <typename Call>
  void expire(std::int64_t now_ns, Call&& call) {
    const std::int64_t until = std::min((now_ns - begin_ns_) / kStepNs, kLastStep);
    while (wheels_ != 0) {
      const std::size_t slot = first_slot();
      const std::int64_t begin = begin_of(slot);
      if (begin > until) break;
      now_ = begin;
      if (slot >= kSlots) {
        move_nearer(slot);
      } else {
        const std::uint32_t timer = slots_[slot].first;
        remove(timer);
        --size_;
        call(timer);
      }
    }
    now_ = std::max(now_, until);
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr std::size_t kSlots = std::size_t{1} << kBits;  // of a wheel
  static constexpr std::size_t kWheels = 7;
  static constexpr std::int64_t kLastStep = (std::int64_t{1} << (kBits * kWheels)) - 1;
  static constexpr std::uint16_t kNoSlot = UINT16_MAX;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Timer {
    std::int64_t step = 0;
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
    std::uint16_t slot = kNoSlot;
  };
  struct Slot {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  // All timers of a wheel come before those of the next.
  std::size_t first_slot() const noexcept {
    const auto wheel = static_cast<std::size_t>(std::countr_zero(wheels_));
    return wheel * kSlots + static_cast<std::size_t>(std::countr_zero(used_[wheel]));
  }

  std::int64_t begin_of(std::size_t slot) const noexcept {
    const auto shift = static_cast<unsigned>(slot / kSlots) * kBits;
    const std::int64_t rounds_of_wheel = now_ >> (shift + kBits) << kBits;
    return (rounds_of_wheel | static_cast<std::int64_t>(slot % kSlots)) << shift;
  }

  void place(std::uint32_t timer) noexcept {
    const auto step = static_cast<std::uint64_t>(timers_[timer].step);
    const std::uint64_t differs = step ^ static_cast<std::uint64_t>(now_);
    const auto wheel =
        differs == 0 ? 0 : static_cast<unsigned>(std::bit_width(differs) - 1) / kBits;
    const std::uint64_t slot = (step >> (wheel * kBits)) % kSlots;
    append(timer, wheel * kSlots + slot);
    used_[wheel] |= std::uint64_t{1} << slot;
    wheels_ |= 1U << wheel;
  }

  // Time has entered this slot.
  void move_nearer(std::size_t slot) noexcept {
    for (std::uint32_t timer = slots_[slot].first; timer != kNone; timer = slots_[slot].first) {
      remove(timer);
      place(timer);
    }
  }

  void append(std::uint32_t timer, std::size_t slot) noexcept {
    const std::uint32_t last = slots_[slot].last;
    timers_[timer].previous = last;
    timers_[timer].next = kNone;
    timers_[timer].slot = static_cast<std::uint16_t>(slot);
    (last == kNone ? slots_[slot].first : timers_[last].next) = timer;
    slots_[slot].last = timer;
  }

  void remove(std::uint32_t timer) noexcept {
    const Timer gone = timers_[timer];
    Slot& slot = slots_[gone.slot];
    (gone.previous == kNone ? slot.first : timers_[gone.previous].next) = gone.next;
    (gone.next == kNone ? slot.last : timers_[gone.next].previous) = gone.previous;
    timers_[timer].slot = kNoSlot;
    if (slot.first != kNone) return;
    const std::size_t wheel = gone.slot / kSlots;
    used_[wheel] &= ~(std::uint64_t{1} << gone.slot % kSlots);
    if (used_[wheel] == 0) wheels_ &= ~(1U << wheel);
  }

  std::vector<Timer> timers_;
  std::array<Slot, kWheels * kSlots> slots_{};
  std::array<std::uint64_t, kWheels> used_{};  // a bit per slot: it has timers
  unsigned wheels_ = 0;                        // a bit per wheel
  std::size_t size_ = 0;
  std::int64_t begin_ns_;
  std::int64_t now_ = 0;  // the step that expired last
};

}  // namespace turntable::net
