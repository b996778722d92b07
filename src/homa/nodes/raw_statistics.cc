#include "homa/nodes/raw_statistics.h"

#include <nlohmann/json.hpp>
#include <span>

namespace turntable::homa {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

double us(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

Json percentile_rows(const CallStatistics& statistics) {
  Json rows = Json::array();
  for (const auto& percentile : statistics.percentiles) {
    rows.push_back({{"rtt_ns", percentile.rtt_ns.encode()},
                    {"slowdown_1000", percentile.slowdown_1000.encode()}});
  }
  return rows;
}

Json second_rows(std::span<const CallStatistics::Second> seconds, std::size_t first) {
  Json rows = Json::array();
  for (std::size_t i = first; i < seconds.size(); ++i) {
    const CallStatistics::Second& second = seconds[i];
    rows.push_back({{"second", i},
                    {"offered", second.offered},
                    {"answered", second.answered},
                    {"offered_bytes", second.offered_bytes},
                    {"answered_bytes", second.answered_bytes},
                    {"waiting_max", second.waiting_max},
                    {"open", second.open},
                    {"rtt_p50_ns", second.rtt_p50_ns},
                    {"rtt_p99_ns", second.rtt_p99_ns},
                    {"rtt_p999_ns", second.rtt_p999_ns}});
  }
  return rows;
}

// Unknown is not 0.
Json us_or_null(std::optional<std::int64_t> ns) {
  return ns ? Json(us(*ns)) : Json();
}

Json idle_rows(const IdleRoundTrips& idle) {
  Json rows = Json::array();
  for (const auto& [bytes, ns] : idle.ns_by_bytes()) rows.push_back({bytes, ns});
  return rows;
}

void add_scheduling(Json& out, const std::optional<SchedulingTimes>& times) {
  out["run_ns"] = times ? Json(times->run_ns) : Json();
  out["wait_ns"] = times ? Json(times->wait_ns) : Json();
}

}  // namespace

Json raw_statistics(const MessageClient& client, const load::Schedule& schedule, bool complete) {
  const CallStatistics& s = client.statistics();
  const load::ThreadTiming& timing = client.timing();
  Json out = {{"format", kFormat},
              {"complete", complete},
              {"client", client.settings().client},
              {"window_ns", schedule.window_ns()},
              {"offered", s.offered},
              {"answered", s.answered},
              {"aborted", s.aborted},
              {"unanswered", s.open},
              {"wrong", s.wrong},
              {"waited", s.waited},
              {"offered_bytes", s.offered_bytes},
              {"answered_bytes", s.answered_bytes},
              {"open_bytes_at_end", s.open_bytes_at_end},
              {"outstanding_max", s.outstanding_max},
              {"percentiles", percentile_rows(s)},
              {"seconds", second_rows(s.seconds, 0)},
              {"idle", idle_rows(client.settings().idle)},
              {"begin_late_ns", s.begin_late_ns.encode()},
              {"begin_late_max_us", us(s.begin_late_ns.max())},
              {"start_late_us", us(timing.start_lateness_ns)},
              {"window_late_us", us(timing.window_lateness_ns)},
              {"read_late_max_us", us_or_null(client.read_late_max_ns())},
              {"socket_drops", client.transport().socket_drops()},
              {"transport", client.transport().statistics()}};
  add_scheduling(out, timing.scheduling);
  return out;
}

Json statistics_so_far(const MessageClient& client, std::size_t first_second) {
  return {{"running", true}, {"seconds", second_rows(client.seconds_over(), first_second)}};
}

Json raw_statistics(const ServerStatistics& s) {
  Json out = {{"format", kFormat},
              {"echoed_bytes", s.echoed_bytes},
              {"read_late_max_us", us_or_null(s.read_late_max_ns)},
              {"socket_drops", s.socket_drops},
              {"transport", s.transport}};
  add_scheduling(out, s.scheduling);
  return out;
}

}  // namespace turntable::homa
