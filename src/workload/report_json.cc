#include <cmath>
#include <nlohmann/json.hpp>

#include "workload/report.h"

namespace turntable::workload {
namespace {

using nlohmann::json;

json number_or_null(const std::optional<double>& number) {
  return number ? json(*number) : json(nullptr);
}

// A whole number that was counted in a double.
std::uint64_t count(double number) {
  return static_cast<std::uint64_t>(std::llround(number));
}

json near_ties(const std::vector<NearTie>& ties) {
  json list = json::array();
  for (const NearTie& tie : ties) {
    list.push_back({{"partition", tie.partition}, {"share", tie.share}});
  }
  return list;
}

json balances(const ScaleAnalysis& analysis, std::uint64_t cached_keys) {
  const Balance& cached = analysis.cached;
  return {{"bottleneck", analysis.uncached.bottleneck},
          {"near_ties", near_ties(analysis.near_ties)},
          {"shares", analysis.uncached.shares},
          {"uncached",
           {{"normalized", number_or_null(analysis.uncached.normalized)},
            {"imbalance", number_or_null(analysis.uncached.imbalance)}}},
          {"cached",
           {{"keys", cached_keys},
            {"hit_mass", analysis.hit_mass},
            {"bottleneck", cached.bottleneck},
            {"normalized", number_or_null(cached.normalized)},
            {"imbalance", number_or_null(cached.imbalance)},
            {"shares", cached.shares}}}};
}

json write_through_at(const std::vector<WriteThroughReport>& parts, std::size_t index) {
  json list = json::array();
  for (const WriteThroughReport& part : parts) {
    json placements = json::array();
    for (const PlacementRates& rates : part.placements[index]) {
      placements.push_back({rates.bottleneck_switch, rates.bottleneck_server, rates.rotated_switch,
                            rates.rotated_server});
    }
    list.push_back({{"update_round_trip", part.update_round_trip}, {"placements", placements}});
  }
  return list;
}

json trace_at(const TraceReport& trace, std::size_t index, std::uint64_t cached_keys) {
  const ScaleAnalysis& analysis = trace.scales[index];
  json object = balances(analysis, cached_keys);
  const auto reads = per_partition(trace.composition.reads, analysis.scale);
  const auto writes = per_partition(trace.composition.writes, analysis.scale);
  const auto hits = per_partition(trace.composition.cached, analysis.scale);
  const auto distinct = per_partition(trace.composition.distinct_keys, analysis.scale);
  object["partitions"] = json::array();
  for (unsigned i = 0; i < analysis.scale; ++i) {
    object["partitions"].push_back({{"partition", i},
                                    {"reads", count(reads[i])},
                                    {"writes", count(writes[i])},
                                    {"total", count(reads[i] + writes[i])},
                                    {"cached_requests", count(hits[i])},
                                    {"distinct_keys", count(distinct[i])}});
  }
  object["write_through"] = write_through_at(trace.write_through, index);
  return object;
}

json scale_at(const Report& report, std::size_t index) {
  const ScaleAnalysis& analysis = report.scales[index];
  json object = balances(analysis, report.cached_keys);
  const double part = 1.0 / analysis.scale;
  object["scale"] = analysis.scale;
  object["share_standard_error"] = std::sqrt(report.unresolved_variance * part * (1 - part));
  object["trace"] =
      report.trace ? trace_at(*report.trace, index, report.cached_keys) : json(nullptr);
  return object;
}

}  // namespace

json report_as_json(const Report& report) {
  const Proportions& p = report.workload.proportions;
  json scales = json::array();
  for (std::size_t i = 0; i < report.scales.size(); ++i) scales.push_back(scale_at(report, i));
  return {{"workload", workload_to_json(report.workload)},
          {"distribution", distribution_name(report.workload.distribution)},
          {"proportions",
           {{"read", p.read},
            {"update", p.update},
            {"insert", p.insert},
            {"scan", p.scan},
            {"read_modify_write", p.read_modify_write}}},
          {"scales", scales},
          {"analysis_seconds", report.seconds},
          {"trace_seconds", report.trace ? json(report.trace->seconds) : json(nullptr)}};
}

}  // namespace turntable::workload
