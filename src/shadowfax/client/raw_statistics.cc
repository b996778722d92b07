#include "shadowfax/client/raw_statistics.h"

#include <nlohmann/json.hpp>

#include "load/timing_json.h"

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;

Json thread_row(const ThreadResult& thread) {
  Json row = load::timing_json(thread.timing);
  row["cpu_ns"] = thread.cpu_ns;
  row["operations"] = thread.load.operations();
  return row;
}

Json sample_rows(const LoadStatistics& load) {
  Json rows = Json::array();
  for (const LoadSample& sample : load.samples) {
    rows.push_back({{"operations", sample.operations},
                    {"pending", sample.pending},
                    {"refused_batches", sample.refused_batches},
                    {"by_server", sample.by_server}});
  }
  return rows;
}

// Null where there was no open loop.
void add_open_loop(Json& out, const std::vector<ThreadResult>& threads) {
  load::OpenLoopStatistics all;
  bool is_open = false;
  for (const ThreadResult& thread : threads) {
    if (!thread.open_loop) continue;
    all.merge(*thread.open_loop);
    is_open = true;
  }
  out["offered"] = is_open ? Json(all.offered) : Json();
  out["unsent"] = is_open ? Json(all.unsent) : Json();
  out["latency_ns"] = is_open ? Json(all.latency_ns.encode()) : Json();
  out["send_late_ns"] = is_open ? Json(all.send_late_ns.encode()) : Json();
}

}  // namespace

Json raw_statistics(const std::vector<ThreadResult>& threads, std::int64_t window_ns,
                    std::int64_t sample_ns) {
  LoadStatistics all;
  Json rows = Json::array();
  for (const ThreadResult& thread : threads) {
    all.merge(thread.load);
    rows.push_back(thread_row(thread));
  }
  const std::uint64_t batches = all.round_trip_ns.count();
  Json out = {{"window_ns", window_ns},
              {"threads", rows},
              {"operations", all.operations()},
              {"reads", all.reads},
              {"upserts", all.upserts},
              {"adds", all.adds},
              {"not_found", all.not_found},
              {"pending", all.pending},
              {"batches", all.batches},
              {"refused_batches", all.refused_batches},
              {"round_trip_ns", all.round_trip_ns.encode()},
              {"round_trip_mean_ns", nullptr},
              {"unanswered", all.unanswered_total},
              {"adds_issued_total", all.adds_issued_total},
              {"adds_acknowledged_total", all.adds_acknowledged_total},
              {"errors",
               {{"failed", all.failed_total},
                {"lost_sessions", all.lost_sessions},
                {"unreplayed", all.unreplayed_total},
                {"wrong_values", all.wrong_values_total}}},
              {"failed_why", all.failed_why.empty() ? Json() : Json(all.failed_why)},
              {"lost_why", all.lost_why.empty() ? Json() : Json(all.lost_why)},
              {"silent_ns", all.silent_ns},
              {"sample_ns", sample_ns},
              {"samples", sample_rows(all)}};
  if (batches > 0) {
    out["round_trip_mean_ns"] =
        static_cast<double>(all.round_trip_ns.sum()) / static_cast<double>(batches);
  }
  add_open_loop(out, threads);
  return out;
}

}  // namespace turntable::shadowfax
