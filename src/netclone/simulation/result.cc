#include "netclone/simulation/result.h"

#include <nlohmann/json.hpp>

namespace turntable::netclone::simulation {
namespace {

constexpr double kDeliveredShare = 0.98;
constexpr double kP99Growth = 1.2;

double p99(const stats::Histogram& histogram) {
  return static_cast<double>(histogram.value_at_percentile(99));
}

}  // namespace

bool Result::saturated() const noexcept {
  const auto delivered_least = kDeliveredShare * static_cast<double>(offered);
  return static_cast<double>(delivered) < delivered_least ||
         p99(half_latency_ns[1]) > kP99Growth * p99(half_latency_ns[0]);
}

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
      {"saturated", result.saturated()},
      {"latency_ns", result.latency_ns.encode()},
      {"half_latency_ns", {result.half_latency_ns[0].encode(), result.half_latency_ns[1].encode()}},
      {"over", std::move(over)}};
}

}  // namespace turntable::netclone::simulation
