// Values that are counted later, a block of them at once.
//
// A thread that comes back from the kernel finds no histogram in its processor's caches. Recording
// one value then waits for memory several times; the waits of a block overlap.
//
//   queue.record(histogram, value);
//   queue.flush();  // before a histogram is read
//
// Histograms must stay where they are until then. Nothing here allocates. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stats/histogram.h"

namespace turntable::stats {

class RecordQueue {
 public:
  static constexpr std::size_t kBlock = 128;

  void record(Histogram& into, std::int64_t value) noexcept {
    entries_[size_] = {&into, value};
    if (++size_ == kBlock) flush();
  }

  void flush() noexcept {
    if (size_ == 0) return;  // nothing is written: who only reads may call it
    for (std::size_t i = 0; i < size_; ++i) entries_[i].into->record(entries_[i].value);
    size_ = 0;
  }

 private:
  struct Entry {
    Histogram* into = nullptr;
    std::int64_t value = 0;
  };
  std::array<Entry, kBlock> entries_{};
  std::size_t size_ = 0;
};

}  // namespace turntable::stats
