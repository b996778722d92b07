// The result of workload-analyze, as JSON and as text (docs/workloads.md).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "workload/analysis.h"
#include "workload/composition.h"
#include "workload/popularity_model.h"
#include "workload/profile.h"
#include "workload/slot_load.h"
#include "workload/write_through.h"

namespace turntable::workload {

// What the model of a write-through cache says.
struct WriteThroughReport {
  double update_round_trip;                             // u c
  std::vector<std::vector<PlacementRates>> placements;  // by scale
};

struct TraceReport {
  TraceComposition composition;
  std::vector<ScaleAnalysis> scales;
  std::vector<WriteThroughReport> write_through;
  std::optional<PopularityReport> popularity;
  double seconds = 0;
};

struct Report {
  Workload workload;
  std::uint64_t cached_keys = 0;
  double unresolved_variance = 0;  // SlotLoads::unresolved_variance
  std::vector<ScaleAnalysis> scales;
  double seconds = 0;
  std::optional<TraceReport> trace;  // its scales in the same order
};

// The workload is a recorded trace: what it has, and what of it no switch can have.
nlohmann::json recorded_as_json(const RecordedTrace& recorded);

nlohmann::json report_as_json(const Report& report);
std::string report_as_text(const Report& report);

}  // namespace turntable::workload
