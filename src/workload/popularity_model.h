// Which keys change in a workload whose hot keys change, and what that does to the servers: by the
// traces' own counts (docs/workloads.md §8).
#pragma once

#include <cstdint>
#include <vector>

#include "workload/popularity.h"
#include "workload/profile.h"
#include "workload/trace.h"

namespace turntable::workload {

struct PopularityPlan {
  Pattern pattern = Pattern::kStable;
  std::uint64_t hot_list = 0;  // the hottest keys, whose requests may be for others
  std::uint64_t keys_changed = 0;
  std::uint64_t changes = 0;
};

// Requests by slot, of all traces, if the period lasted for all of them. "Cached" are the hottest
// keys; whole numbers.
struct PopularityPeriod {
  std::vector<double> requests;
  std::vector<double> kept;    // for keys that are cached, while those of the period before are
  std::vector<double> cached;  // ... once those of this period are
};

struct PopularityReport {
  PopularityPlan plan;
  std::vector<PopularityChange> changes;
  std::vector<PopularityPeriod> periods;  // one more than changes
};

class PopularityModel {
 public:
  // cached: how many of a period's hottest keys are cached; at most those of the list.
  PopularityModel(const Workload& workload, const PopularityPlan& plan, std::uint64_t cached);

  void add(const std::vector<Operation>& trace);

  // After all traces. Throws bad_argument when they have too few keys.
  PopularityReport finish();

 private:
  std::vector<PopularityChange> choose_changes() const;
  std::vector<KeyId> coldest(std::size_t count) const;
  std::vector<KeyId> next_hottest(std::size_t count) const;
  std::vector<std::uint32_t> random_positions(std::size_t change) const;
  PopularityPeriod period(const std::vector<KeyId>& list, const std::vector<KeyId>& before) const;
  double requests_of(KeyId key) const;
  bool is_hot(KeyId key) const;
  bool may_be_hot(KeyId key) const;

  Workload workload_;
  PopularityPlan plan_;
  std::size_t cached_;
  std::vector<KeyId> hottest_;
  std::vector<KeyId> sorted_hottest_;
  // The key of every request, but for keys that never become hot; ascending after finish().
  std::vector<KeyId> asked_;
  std::vector<double> requests_;  // by slot
};

}  // namespace turntable::workload
