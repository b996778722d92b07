#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "workload/recorded_trace.h"
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
    json placements = json::array(), deviations = json::array();
    for (const PlacementRates& rates : part.placements[index]) {
      placements.push_back({rates.bottleneck_switch, rates.bottleneck_server, rates.rotated_switch,
                            rates.rotated_server});
      deviations.push_back({rates.hit_share_deviation, rates.rotated_share_deviation});
    }
    list.push_back({{"update_round_trip", part.update_round_trip},
                    {"placements", placements},
                    {"deviations", deviations}});
  }
  return list;
}

json shares_of(const std::vector<double>& per_slot, unsigned scale, double requests) {
  std::vector<double> shares = per_partition(per_slot, scale);
  for (double& share : shares) share /= requests;
  return shares;
}

json periods_at(const PopularityReport& popularity, unsigned scale) {
  json list = json::array();
  for (const PopularityPeriod& period : popularity.periods) {
    const double all = std::accumulate(period.requests.begin(), period.requests.end(), 0.0);
    list.push_back({{"shares", shares_of(period.requests, scale, all)},
                    {"kept", shares_of(period.kept, scale, all)},
                    {"cached", shares_of(period.cached, scale, all)}});
  }
  return list;
}

json changes_of(const PopularityReport& popularity) {
  json changes = json::array();
  for (const PopularityChange& change : popularity.changes) {
    changes.push_back({{"keys", change.keys}});
    if (!change.positions.empty()) changes.back()["positions"] = change.positions;
  }
  return {{"pattern", pattern_name(popularity.plan.pattern)},
          {"hot_list", popularity.plan.hot_list},
          {"changes", changes}};
}

json trace_at(const TraceReport& trace, std::size_t index, std::uint64_t cached_keys) {
  const ScaleAnalysis& analysis = trace.scales[index];
  json object = balances(analysis, cached_keys);
  const auto reads = per_partition(trace.composition.reads, analysis.scale);
  const auto writes = per_partition(trace.composition.writes, analysis.scale);
  const auto hits = per_partition(trace.composition.cached, analysis.scale);
  const auto read_hits = per_partition(trace.composition.cached_reads, analysis.scale);
  const auto distinct = per_partition(trace.composition.distinct_keys, analysis.scale);
  object["partitions"] = json::array();
  for (unsigned i = 0; i < analysis.scale; ++i) {
    object["partitions"].push_back({{"partition", i},
                                    {"reads", count(reads[i])},
                                    {"writes", count(writes[i])},
                                    {"total", count(reads[i] + writes[i])},
                                    {"cached_requests", count(hits[i])},
                                    {"cached_reads", count(read_hits[i])},
                                    {"distinct_keys", count(distinct[i])}});
  }
  object["write_through"] = write_through_at(trace.write_through, index);
  if (trace.popularity) object["periods"] = periods_at(*trace.popularity, analysis.scale);
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

json recorded_as_json(const RecordedTrace& recorded) {
  std::uint64_t reads = 0, keys = 0, requests = 0;
  for (const auto& [id, key] : recorded.keys()) {
    reads += key.reads;
    if (key.fits_a_switch()) continue;
    ++keys;
    requests += key.requests;
  }
  return {{"file", recorded.file()},
          {"digest", recorded.digest()},
          {"is_cut", recorded.is_cut()},
          {"requests", recorded.requests()},
          {"reads", reads},
          {"writes", recorded.requests() - reads - recorded.deletes()},
          {"deletes", recorded.deletes()},
          {"keys", recorded.keys().size()},
          {"longest_value_bytes", recorded.longest_value()},
          {"not_cacheable", {{"keys", keys}, {"requests", requests}}}};
}

json report_as_json(const Report& report) {
  const Proportions& p = report.workload.proportions;
  json scales = json::array();
  for (std::size_t i = 0; i < report.scales.size(); ++i) scales.push_back(scale_at(report, i));
  json popularity;
  if (report.trace && report.trace->popularity) popularity = changes_of(*report.trace->popularity);
  const auto& recorded = report.workload.recorded;
  return {{"workload", workload_to_json(report.workload)},
          {"recorded", recorded ? recorded_as_json(*recorded) : json(nullptr)},
          {"distribution", distribution_name(report.workload.distribution)},
          {"proportions",
           {{"read", p.read},
            {"update", p.update},
            {"insert", p.insert},
            {"scan", p.scan},
            {"read_modify_write", p.read_modify_write}}},
          {"scales", scales},
          {"popularity", popularity},
          {"analysis_seconds", report.seconds},
          {"trace_seconds", report.trace ? json(report.trace->seconds) : json(nullptr)}};
}

}  // namespace turntable::workload
