#include "workload/slot_load.h"

#include "workload/distribution_load.h"
#include "workload/load_accumulator.h"

namespace turntable::workload {
namespace {

// All records alike; counts, not shares.
SlotLoads record_counts(const Workload& workload, const KeySet& cached) {
  return accumulate_in_parallel(
      0, workload.records, cached,
      [](std::uint64_t first, std::uint64_t last, LoadAccumulator& loads) {
        for (std::uint64_t number = first; number < last; ++number) loads.add_record(number, 1);
      });
}

// The records that the window inserts, all alike.
SlotLoads insert_counts(const Workload& workload, const KeySet& cached) {
  return accumulate_in_parallel(
      workload.records, workload.records + expected_inserts(workload), cached,
      [](std::uint64_t first, std::uint64_t last, LoadAccumulator& loads) {
        for (std::uint64_t number = first; number < last; ++number) loads.add_inserted(number, 1);
      });
}

SlotLoads chosen_loads(const Workload& workload, const KeySet& cached, std::uint64_t head_ranks) {
  switch (workload.distribution) {
    case Distribution::kZipfian:
      return zipfian_loads(workload, record_counts(workload, cached), cached, head_ranks);
    case Distribution::kLatest:
      return latest_loads(workload, cached);
    default:
      return record_counts(workload, cached);
  }
}

double sum_of(const std::vector<double>& shares) {
  double sum = 0;
  for (const double share : shares) sum += share;
  return sum;
}

}  // namespace

SlotLoads expected_slot_loads(const Workload& workload, const KeySet& cached,
                              std::uint64_t head_ranks) {
  const SlotLoads chosen = chosen_loads(workload, cached, head_ranks);
  // In the load phase the inserts are the records.
  const bool inserts_apart =
      workload.proportions.insert > 0 && workload.distribution != Distribution::kSequential;
  const double insert_share =
      inserts_apart ? workload.proportions.insert / requests_per_operation(workload) : 0;

  const double factor = (1 - insert_share) / sum_of(chosen.total);
  LoadAccumulator mix(cached);
  mix.add(chosen, factor);
  if (inserts_apart) {
    const SlotLoads inserted = insert_counts(workload, cached);
    mix.add(inserted, insert_share / sum_of(inserted.total));
  }
  SlotLoads loads = mix.loads();
  loads.unresolved_variance = chosen.unresolved_variance * factor * factor;
  return loads;
}

}  // namespace turntable::workload
