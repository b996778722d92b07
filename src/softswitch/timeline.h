// Frames that wait for a time of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "softswitch/frame_pool.h"

namespace turntable::softswitch {

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// A heap by time; of equal times the first added comes first. Its memory grows to the largest
// number of frames that ever waited, and stays.
class Timeline {
 public:
  void add(Frame* frame, std::uint64_t due_ns) {
    entries_.push_back({due_ns, added_++, frame});
    std::push_heap(entries_.begin(), entries_.end(), later);
  }

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  std::uint64_t next_due_ns() const { return empty() ? kNever : entries_.front().due_ns; }

  // The next frame that is due, or nullptr.
  Frame* take_due(std::uint64_t now_ns) {
    return next_due_ns() <= now_ns && !empty() ? take() : nullptr;
  }

 private:
  struct Entry {
    std::uint64_t due_ns;
    std::uint64_t order;
    Frame* frame;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.due_ns != b.due_ns ? a.due_ns > b.due_ns : a.order > b.order;
  }
  Frame* take() {
    std::pop_heap(entries_.begin(), entries_.end(), later);
    Frame* frame = entries_.back().frame;
    entries_.pop_back();
    return frame;
  }

  std::vector<Entry> entries_;
  std::uint64_t added_ = 0;
};

}  // namespace turntable::softswitch
