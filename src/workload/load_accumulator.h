// Adds up the load of many keys, on all processors, with a result that does not depend on timing.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "workload/slot_load.h"

namespace turntable::workload {

class LoadAccumulator {
 public:
  explicit LoadAccumulator(const KeySet& cached) : cached_(&cached) {}

  // A record that existed before the run.
  void add_record(std::uint64_t key_number, double share) {
    const std::uint16_t slot = slot_of(key_id(key_number));
    loads_.total[slot] += share;
    if (cached_->contains(key_number)) loads_.cached[slot] += share;
  }

  // A record that is inserted during the run.
  void add_inserted(std::uint64_t key_number, double share) {
    loads_.total[slot_of(key_id(key_number))] += share;
  }

  // Adds `factor` times the loads of `other`.
  void add(const SlotLoads& other, double factor) {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      loads_.total[slot] += factor * other.total[slot];
      loads_.cached[slot] += factor * other.cached[slot];
    }
  }

  const SlotLoads& loads() const { return loads_; }

 private:
  const KeySet* cached_;
  SlotLoads loads_;
};

// Calls visit(first, last, accumulator) for consecutive parts of [begin, end), each part with its
// own accumulator, and returns their sum, added up in the order of the parts.
template <typename Visit>
SlotLoads accumulate_in_parallel(std::uint64_t begin, std::uint64_t end, const KeySet& cached,
                                 Visit visit) {
  constexpr std::uint64_t kParts = 16;
  std::vector<LoadAccumulator> parts(kParts, LoadAccumulator(cached));
  std::atomic<std::uint64_t> next_part{0};
  const auto work = [&] {
    for (std::uint64_t i = next_part++; i < kParts; i = next_part++) {
      const std::uint64_t length = end - begin;
      visit(begin + length * i / kParts, begin + length * (i + 1) / kParts, parts[i]);
    }
  };
  {
    std::vector<std::jthread> helpers(std::max(1U, std::thread::hardware_concurrency()) - 1);
    for (std::jthread& helper : helpers) helper = std::jthread(work);
    work();
  }
  LoadAccumulator sum(cached);
  for (const LoadAccumulator& part : parts) sum.add(part.loads(), 1);
  return sum.loads();
}

}  // namespace turntable::workload
