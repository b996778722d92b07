// What happens next in a simulation.
#pragma once

#include <cstdint>

#include "common/min_heap.h"

namespace turntable::homa::simulation {

enum class EventKind : std::uint32_t {
  kAtSwitch,    // a frame arrives; index: of the switch
  kPortFree,    // index: of the port
  kAtHost,      // a frame arrives; index: of the host
  kUplinkFree,  // index: of the host
  kArrival,     // index: of the client that is to make a call
  kTick,        // of all hosts' timers
};

struct Event {
  std::int64_t at_ps;
  std::uint32_t order;  // of events at one instant
  EventKind kind;
  std::uint32_t index;
  std::uint32_t frame;

  friend bool operator<(const Event& a, const Event& b) noexcept {
    return a.at_ps != b.at_ps ? a.at_ps < b.at_ps
                              : static_cast<std::int32_t>(a.order - b.order) < 0;
  }
};

class Events {
 public:
  void at(std::int64_t time_ps, EventKind kind, std::uint32_t index, std::uint32_t frame = 0) {
    heap_.push({time_ps, order_++, kind, index, frame});
  }

  std::int64_t now_ps() const noexcept { return now_ps_; }
  bool empty() const noexcept { return heap_.empty(); }
  std::uint64_t count() const noexcept { return count_; }  // of those that happened

  // The next one, which is now.
  Event take() noexcept {
    const Event event = heap_.first();
    heap_.pop();
    now_ps_ = event.at_ps;
    ++count_;
    return event;
  }

 private:
  MinHeap<Event> heap_;
  std::int64_t now_ps_ = 0;
  std::uint64_t count_ = 0;
  std::uint32_t order_ = 0;
};

}  // namespace turntable::homa::simulation
