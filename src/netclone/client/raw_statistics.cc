#include "netclone/client/raw_statistics.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace turntable::netclone {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

double us(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

Json second_rows(const load::OpenLoopStatistics& s) {
  Json rows = Json::array();
  for (const load::OpenLoopSecond& second : s.seconds) {
    rows.push_back({{"second", rows.size()},
                    {"offered", second.offered},
                    {"delivered", second.delivered},
                    {"latency_sum_ns", second.latency_sum_ns},
                    {"latency_max_ns", second.latency_max_ns}});
  }
  return rows;
}

Json over_rows(const load::OpenLoopStatistics& s) {
  Json rows = Json::array();
  for (const load::OverCount& over : s.over)
    rows.push_back({{"over_ns", over.over_ns}, {"requests", over.requests}});
  return rows;
}

Json thread_row(const ClientResult& client) {
  const load::ThreadTiming& timing = client.thread.timing();
  Json row = {{"client", client.index},
              {"offered", client.thread.loop().statistics().offered},
              {"start_late_us", us(timing.start_lateness_ns)},
              {"window_late_us", us(timing.window_lateness_ns)},
              {"read_late_max_us", us(timing.read_lateness_max_ns)},
              {"realtime", timing.realtime},
              {"run_ns", nullptr},
              {"wait_ns", nullptr}};
  if (timing.scheduling) {
    row["run_ns"] = timing.scheduling->run_ns;
    row["wait_ns"] = timing.scheduling->wait_ns;
  }
  return row;
}

void add_loops(Json& out, const load::OpenLoopStatistics& s) {
  out["offered"] = s.offered;
  out["delivered"] = s.delivered;
  out["lost"] = s.lost;
  out["unsent"] = s.unsent;
  out["withheld"] = s.withheld;
  out["redundant_window"] = s.redundant_window;
  out["latency_ns"] = s.latency_ns.encode();
  out["latency_sum_ns"] = s.latency_ns.sum();
  out["latency_clamped"] = s.latency_ns.clamped();
  out["from_send_ns"] = s.from_send_ns.encode();
  out["send_late_ns"] = s.send_late_ns.encode();
  out["send_late_sum_ns"] = s.send_late_ns.sum();
  out["send_late_max_us"] = us(s.send_late_ns.max());
  out["read_late_ns"] = s.read_late_ns.encode();
  out["halves"] = {s.halves[0].encode(), s.halves[1].encode()};
  out["over"] = over_rows(s);
  out["seconds"] = second_rows(s);
  out["requests_total"] = s.requests_total;
  out["redundant"] = s.redundant;
  out["unanswered"] = s.unanswered;
  out["given_up"] = s.given_up;
}

void add_packets(Json& out, std::span<const ClientResult> clients) {
  load::OpenLoopThread<Codec>::Packets packets;
  Codec::Counts counts;
  std::uint32_t drops = 0;
  for (const ClientResult& client : clients) {
    const auto& p = client.thread.packets();
    packets.sent += p.sent;
    packets.received += p.received;
    packets.unknown += p.unknown;
    packets.send_errors += p.send_errors;
    packets.receive_errors += p.receive_errors;
    const Codec::Counts& c = client.thread.codec().counts();
    counts.malformed += c.malformed;
    counts.not_mine += c.not_mine;
    counts.late += c.late;
    counts.cloned += c.cloned;
    counts.clone_first += c.clone_first;
    drops += client.thread.drops();
  }
  out["sent_packets"] = packets.sent;
  out["received_packets"] = packets.received;
  out["unknown"] = packets.unknown;
  out["send_errors"] = packets.send_errors;
  out["receive_errors"] = packets.receive_errors;
  out["malformed"] = counts.malformed;
  out["not_mine"] = counts.not_mine;
  out["late"] = counts.late;
  out["cloned_answers"] = counts.cloned;
  out["clone_first"] = counts.clone_first;
  out["socket_drops"] = drops;
}

// The worst of the threads, and the sums of their times.
void add_threads(Json& out, std::span<const ClientResult> clients) {
  Json rows = Json::array();
  std::int64_t start_ns = 0, window_ns = 0, read_ns = 0, run_ns = 0, wait_ns = 0;
  bool scheduling = true;
  for (const ClientResult& client : clients) {
    const load::ThreadTiming& timing = client.thread.timing();
    start_ns = std::max(start_ns, timing.start_lateness_ns);
    window_ns = std::max(window_ns, timing.window_lateness_ns);
    read_ns = std::max(read_ns, timing.read_lateness_max_ns);
    scheduling = scheduling && timing.scheduling;
    run_ns += timing.scheduling ? timing.scheduling->run_ns : 0;
    wait_ns += timing.scheduling ? timing.scheduling->wait_ns : 0;
    rows.push_back(thread_row(client));
  }
  out["start_late_us"] = us(start_ns);
  out["window_late_us"] = us(window_ns);
  out["read_late_max_us"] = us(read_ns);
  out["run_ns"] = scheduling ? Json(run_ns) : Json();
  out["wait_ns"] = scheduling ? Json(wait_ns) : Json();
  out["threads"] = std::move(rows);
}

}  // namespace

Json raw_statistics(std::span<const ClientResult> clients, const load::Schedule& schedule,
                    bool complete) {
  load::OpenLoopStatistics sum = clients.front().thread.loop().statistics();
  for (const ClientResult& client : clients.subspan(1))
    sum.merge(client.thread.loop().statistics());
  Json out = {{"format", kFormat}, {"complete", complete}, {"window_ns", schedule.window_ns()}};
  add_loops(out, sum);
  add_packets(out, clients);
  add_threads(out, clients);
  return out;
}

}  // namespace turntable::netclone
