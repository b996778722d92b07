#include "netclone/simulation/result.h"

#include <nlohmann/json.hpp>

namespace turntable::netclone::simulation {

nlohmann::json raw_result(const Result& result) {
  nlohmann::json over = nlohmann::json::array();
  for (const Over& each : result.over) over.push_back({{"ns", each.ns}, {"count", each.count}});
  return {
      {"events", result.events},
      {"requests", result.requests},
      {"answered", result.answered},
      {"copies", result.copies},
      {"copies_answered", result.copies_answered},
      {"copies_dropped", result.copies_dropped},
      {"copies_in_flight", result.copies_in_flight},
      {"offered", result.offered},
      {"delivered", result.delivered},
      {"unanswered", result.unanswered},
      {"cloned", result.cloned},
      {"clones_dropped", result.clones_dropped},
      {"filtered", result.filtered},
      {"redundant", result.redundant},
      {"reports", result.reports},
      {"reports_empty", result.reports_empty},
      {"reports_empty_all_busy", result.reports_empty_all_busy},
      {"latency_ns", result.latency_ns.encode()},
      {"half_latency_ns", {result.half_latency_ns[0].encode(), result.half_latency_ns[1].encode()}},
      {"over", std::move(over)}};
}

}  // namespace turntable::netclone::simulation
