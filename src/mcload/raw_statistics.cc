#include "mcload/raw_statistics.h"

#include <nlohmann/json.hpp>

#include "load/timing_json.h"

namespace turntable::mcload {
namespace {

using Json = nlohmann::json;

Json second_rows(const load::OpenLoopStatistics& loop) {
  Json rows = Json::array();
  for (const load::OpenLoopSecond& second : loop.seconds) {
    rows.push_back({{"offered", second.offered},
                    {"delivered", second.delivered},
                    {"latency_sum_ns", second.latency_sum_ns},
                    {"latency_max_ns", second.latency_max_ns}});
  }
  return rows;
}

Json thread_rows(const std::vector<load::ThreadTiming>& threads) {
  Json rows = Json::array();
  for (const load::ThreadTiming& timing : threads) rows.push_back(load::timing_json(timing));
  return rows;
}

void add_latencies(Json& out, const Measured& measured) {
  const load::OpenLoopStatistics& loop = measured.loop;
  const KeyValueStatistics& s = measured.key_value;
  out["latency_ns"] = loop.latency_ns.encode();
  out["get_latency_ns"] = s.get.intended_ns.encode();
  out["set_latency_ns"] = s.set.intended_ns.encode();
  out["from_send_ns"] = loop.from_send_ns.encode();
  out["get_from_send_ns"] = s.get.from_send_ns.encode();
  out["set_from_send_ns"] = s.set.from_send_ns.encode();
  out["send_late_ns"] = loop.send_late_ns.encode();
  out["read_late_ns"] = loop.read_late_ns.encode();
  out["queued"] = s.queued.encode();
  out["get_lost"] = s.get.lost;
  out["get_unsent"] = s.get.unsent;
  out["set_lost"] = s.set.lost;
  out["set_unsent"] = s.set.unsent;
  out["latency_sum_ns"] = loop.latency_ns.sum();
  out["latency_clamped"] = loop.latency_ns.clamped();
}

}  // namespace

Json to_json(const Errors& errors) {
  return {{"protocol", errors.protocol},         {"server_error", errors.server_error},
          {"client_error", errors.client_error}, {"out_of_memory", errors.out_of_memory},
          {"wrong_size", errors.wrong_size},     {"closed", errors.closed},
          {"reconnected", errors.reconnected}};
}

Json raw_statistics(const Measured& measured) {
  const load::OpenLoopStatistics& loop = measured.loop;
  const KeyValueStatistics& s = measured.key_value;
  Json out = {{"window_ns", measured.window_ns},
              {"waited_ns", measured.waited_ns},
              {"offered", loop.offered},
              {"delivered", loop.delivered},
              {"lost", loop.lost},
              {"unsent", loop.unsent},
              {"withheld", loop.withheld},
              {"requests_total", loop.requests_total},
              {"answers_total", loop.answers_total},
              {"gets", s.gets},
              {"sets", s.sets},
              {"hits", s.hits},
              {"misses", s.misses},
              {"errors", to_json(s.errors)},
              {"silent", s.silent},
              {"per_second", second_rows(loop)},
              {"threads", thread_rows(measured.threads)},
              {"cpu", {{"user_ns", s.user_ns}, {"system_ns", s.system_ns}}},
              {"rx_bytes", s.rx_bytes},
              {"tx_bytes", s.tx_bytes}};
  add_latencies(out, measured);
  return out;
}

}  // namespace turntable::mcload
