// The clients that wait for an answer, in the order in which they sent. With one time-out for all
// this is also the order of their deadlines, so every operation is O(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace turntable::load {

// A doubly linked list over the indexes 0 .. size - 1. Allocates only in the constructor.
class TimeoutQueue {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit TimeoutQueue(std::size_t size) : links_(size) {}

  std::uint32_t oldest() const noexcept { return head_; }  // kNone: empty

  // `index` must not be in the queue.
  void push(std::uint32_t index) noexcept {
    links_[index] = {.previous = tail_, .next = kNone};
    (tail_ == kNone ? head_ : links_[tail_].next) = index;
    tail_ = index;
  }

  // `index` must be in the queue.
  void remove(std::uint32_t index) noexcept {
    const Link link = links_[index];
    (link.previous == kNone ? head_ : links_[link.previous].next) = link.next;
    (link.next == kNone ? tail_ : links_[link.next].previous) = link.previous;
  }

 private:
  struct Link {
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
  };
  std::vector<Link> links_;
  std::uint32_t head_ = kNone;
  std::uint32_t tail_ = kNone;
};

}  // namespace turntable::load
