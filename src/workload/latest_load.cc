#include <algorithm>
#include <cstdint>

#include "workload/distribution_load.h"
#include "workload/load_accumulator.h"
#include "workload/rank_blocks.h"
#include "workload/zipfian.h"

namespace turntable::workload {
namespace {

// The newest record moves from `first` to `last`; over so short a part of the window the zipfian
// itself is taken as constant.
class Segment {
 public:
  Segment(const Workload& workload, std::uint64_t first, std::uint64_t last)
      : first_(first), last_(last), zipfian_(workload.records - 1, workload.theta) {
    zipfian_.grow(first + (last - first) / 2);
  }

  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return last_; }

  // The share of the segment's draws that ask for `number`: the mean of p(newest - number).
  double share(std::uint64_t number) const {
    const std::uint64_t nearest = number < first_ ? first_ - number : 0;
    return (zipfian_.cumulative(last_ - number + 1) - zipfian_.cumulative(nearest)) /
           static_cast<double>(last_ - first_ + 1);
  }

 private:
  std::uint64_t first_;
  std::uint64_t last_;
  Zipfian zipfian_;
};

void add_segment(const Workload& workload, const Segment& segment, std::uint64_t begin,
                 std::uint64_t end, LoadAccumulator& loads) {
  const auto add = [&](std::uint64_t number, double share) {
    if (number < workload.records) {
      loads.add_record(number, share);
    } else {
      loads.add_inserted(number, share);
    }
  };
  for (std::uint64_t number = begin; number < end;) {
    // A block of keys is short against its distance from the newest, so that the share is linear.
    const std::uint64_t distance = number < segment.first() ? segment.first() - number : 0;
    const std::uint64_t length = std::min(block_length(distance), end - number);
    const double low = segment.share(number);
    const double high = length > 1 ? segment.share(number + length - 1) : low;
    const double step = length > 1 ? (high - low) / static_cast<double>(length - 1) : 0;
    for (std::uint64_t i = 0; i < length; ++i) {
      add(number + i, low + step * static_cast<double>(i));
    }
    number += length;
  }
}

// Enough that the number of records grows by less than 1/64 of itself in each, but no more than 64.
std::uint64_t segment_count(std::uint64_t records, std::uint64_t inserts) {
  constexpr std::uint64_t kMaxSegments = 64;
  return std::clamp<std::uint64_t>(kMaxSegments * inserts / records, 1,
                                   std::min(kMaxSegments, inserts));
}

}  // namespace

SlotLoads latest_loads(const Workload& workload, const KeySet& cached) {
  const std::uint64_t inserts = expected_inserts(workload);
  const std::uint64_t segments = segment_count(workload.records, inserts);
  LoadAccumulator sum(cached);
  for (std::uint64_t i = 0; i < segments; ++i) {
    const std::uint64_t first = workload.records - 1 + inserts * i / segments;
    const std::uint64_t last = workload.records - 1 + inserts * (i + 1) / segments - 1;
    const Segment segment(workload, first, last);
    const auto add = [&](std::uint64_t begin, std::uint64_t end, LoadAccumulator& loads) {
      add_segment(workload, segment, begin, end, loads);
    };
    const double weight = static_cast<double>(last - first + 1) / static_cast<double>(inserts);
    sum.add(accumulate_in_parallel(0, last + 1, cached, add), weight);
  }
  return sum.loads();
}

}  // namespace turntable::workload
