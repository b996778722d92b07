#include <algorithm>
#include <cmath>

#include "workload/distribution_load.h"
#include "workload/key_chooser.h"
#include "workload/load_accumulator.h"
#include "workload/modulo.h"
#include "workload/rank_blocks.h"
#include "workload/zipfian.h"

namespace turntable::workload {
namespace {

// The chance that a draw of a key that is not there yet is accepted, relative to an old record.
// While inserts come in, the share of accepted draws a + b t grows over the window 0 <= t <= 1, and
// a key inserted at t is drawn with density 1 / (a + b t) from then on.
class Availability {
 public:
  Availability(const Workload& workload, std::uint64_t key_numbers)
      : records_(workload.records),
        inserts_(workload.proportions.insert > 0 ? expected_inserts(workload) : 0),
        old_(static_cast<double>(records_) / static_cast<double>(key_numbers)),
        all_(static_cast<double>(records_ + inserts_) / static_cast<double>(key_numbers)) {}

  std::uint64_t end() const { return records_ + inserts_; }

  double of_new(std::uint64_t key_number) const {
    const double time =
        static_cast<double>(key_number - records_ + 1) / static_cast<double>(inserts_);
    return std::log(all_ / (old_ + (all_ - old_) * time)) / std::log(all_ / old_);
  }

 private:
  std::uint64_t records_;
  std::uint64_t inserts_;
  double old_;
  double all_;
};

// The sum of p(rank)^2 from rank `head` on, where p falls as rank^-theta: an integral.
double squares_beyond(const Zipfian& zipfian, double theta, std::uint64_t head) {
  if (head >= zipfian.items()) return 0;
  const double p = zipfian.cumulative(head + 1) - zipfian.cumulative(head);
  const double stretch = std::log(static_cast<double>(zipfian.items()) / static_cast<double>(head));
  const double power = 1 - 2 * theta;
  const double integral = power == 0 ? stretch : std::expm1(power * stretch) / power;
  return p * p * static_cast<double>(head) * integral;
}

}  // namespace

SlotLoads zipfian_loads(const Workload& workload, const SlotLoads& record_counts,
                        const KeySet& cached, std::uint64_t head_ranks) {
  const Zipfian zipfian = Zipfian::scrambled(workload.theta);
  const std::uint64_t key_numbers = scrambled_key_numbers(workload);
  const Availability availability(workload, key_numbers);
  const Modulo modulo(key_numbers);
  const std::uint64_t head = std::clamp<std::uint64_t>(head_ranks, 1, zipfian.items());

  const auto follow = [&](std::uint64_t first, std::uint64_t last, LoadAccumulator& loads) {
    for_each_rank(zipfian, first, last, [&](std::uint64_t rank, double probability) {
      const std::uint64_t number = modulo(fnv_hash(rank));
      if (number < workload.records) {
        loads.add_record(number, probability);
      } else if (number < availability.end()) {
        loads.add_inserted(number, probability * availability.of_new(number));
      }
    });
  };
  const double tail = (1 - zipfian.cumulative(head)) / static_cast<double>(key_numbers);
  LoadAccumulator sum(cached);
  sum.add(accumulate_in_parallel(0, head, cached, follow), 1);
  sum.add(record_counts, tail);
  for (std::uint64_t number = workload.records; number < availability.end(); ++number) {
    sum.add_inserted(number, tail * availability.of_new(number));
  }
  SlotLoads loads = sum.loads();
  loads.unresolved_variance = squares_beyond(zipfian, workload.theta, head);
  return loads;
}

}  // namespace turntable::workload
