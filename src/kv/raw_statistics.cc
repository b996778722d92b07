#include "kv/raw_statistics.h"

namespace turntable::kv {
namespace {

using Json = nlohmann::json;

// An array with one number per partition of the scale; 0 for those that are not running.
template <typename Value>
Json per_server(const MachineStatistics& machine, Value value) {
  std::vector<std::int64_t> numbers(machine.replay.scale());
  for (std::size_t i = 0; i < machine.sum.partitions.size(); ++i) {
    numbers[machine.replay.partitions()[i]] = value(machine.sum.partitions[i]);
  }
  return numbers;
}

// An array with one element per running partition, in their order.
template <typename Rows, typename Value>
Json per_running(const Rows& rows, Value value) {
  Json array = Json::array();
  for (const auto& row : rows) array.push_back(value(row));
  return array;
}

template <typename Value>
Json per_thread(const MachineStatistics& machine, Value value) {
  return per_running(machine.threads, value);
}

std::string iteration_id(const Replay& replay) {
  std::string id = "server";
  for (const unsigned partition : replay.partitions()) id += "-" + std::to_string(partition);
  return id;
}

double mean_measured_ms(std::span<const ThreadTiming> threads) {
  double sum = 0;
  for (const ThreadTiming& thread : threads) sum += static_cast<double>(thread.measured_ns) / 1e6;
  return sum / static_cast<double>(threads.size());
}

void add_latencies(Json& out, const char* prefix, const MachineStatistics& machine,
                   const stats::Histogram PartitionStatistics::*histogram) {
  const auto& rows = machine.sum.partitions;
  const std::string name = std::string("perserver") + prefix;
  out[name + "TotalLatency"] = per_running(
      rows, [&](const auto& p) { return static_cast<double>((p.*histogram).sum()) / 1e3; });
  out[name + "Latencynum"] =
      per_running(rows, [&](const auto& p) { return (p.*histogram).count(); });
  out[name + "TotalHistogram"] =
      per_running(rows, [&](const auto& p) { return (p.*histogram).encode(); });
}

Json second_record(std::size_t number, const SecondStatistics& second) {
  using Partition = PartitionSecond;
  std::int64_t total = 0;
  for (const Partition& p : second.partitions) total += p.answered_by_server + p.answered_by_switch;
  const auto& rows = second.partitions;
  return {
      {"strid", "sec-" + std::to_string(number)},
      {"totalOpsdone", total},
      {"perserverOpsdone", per_running(rows, [](const auto& p) { return p.answered_by_server; })},
      {"perserverCachehits", per_running(rows, [](const auto& p) { return p.answered_by_switch; })},
      {"latency_sum_ns", per_running(rows, [](const auto& p) { return p.latency_sum_ns; })},
      {"latency_max_ns", per_running(rows, [](const auto& p) { return p.latency_max_ns; })},
      {"retries", second.retries}};
}

void add_whole_iteration(Json& out, const MachineStatistics& machine) {
  const ClientStatistics& sum = machine.sum;
  std::uint64_t clamped = 0;
  for (const auto& p : sum.partitions) {
    clamped += p.server_latency_ns.clamped() + p.switch_latency_ns.clamped();
  }
  out["requests_sent"] = per_server(machine, [](const auto& p) { return p.requests_sent; });
  out["responses_received"] =
      per_server(machine, [](const auto& p) { return p.responses_received; });
  out["timeouts"] = sum.timeouts;
  out["retries"] = sum.retries;
  out["stale_answers"] = sum.stale_answers;
  out["malformed"] = sum.malformed;
  out["mismatched"] = sum.mismatched;
  out["wrong_node"] = sum.wrong_node;
  out["wrong_values"] = sum.wrong_values;
  out["not_found"] = sum.not_found;
  out["send_errors"] = sum.send_errors;
  out["receive_errors"] = sum.receive_errors;
  out["in_flight_at_stop"] = sum.in_flight_at_stop;
  out["answered_in_drain"] = sum.answered_in_drain;
  out["unanswered"] = sum.unanswered;
  out["socket_drops"] = machine.socket_drops;
  out["latency_clamped"] = clamped;
}

}  // namespace

Json raw_statistics(const MachineStatistics& machine) {
  const auto answered = [](const auto& p) { return p.answered_by_server + p.answered_by_switch; };
  std::int64_t total = 0;
  for (const auto& partition : machine.sum.partitions) total += answered(partition);

  Json out = {
      {"format", 1},
      {"complete", machine.complete},
      {"strid", iteration_id(machine.replay)},
      {"scale", machine.replay.scale()},
      {"partitions", machine.replay.partitions()},
      {"totalOpsdone", total},
      {"perserverOpsdone", per_server(machine, [](const auto& p) { return p.answered_by_server; })},
      {"perserverCachehits",
       per_server(machine, [](const auto& p) { return p.answered_by_switch; })},
      {"executionMillis", mean_measured_ms(machine.threads)},
      {"idle_clients", machine.idle_clients},
      {"measured_ns", per_thread(machine, [](const auto& t) { return t.measured_ns; })},
      {"start_lateness_ns", per_thread(machine, [](const auto& t) { return t.start_lateness_ns; })},
      {"window_lateness_ns",
       per_thread(machine, [](const auto& t) { return t.window_lateness_ns; })}};
  add_latencies(out, "Cachehit", machine, &PartitionStatistics::switch_latency_ns);
  add_latencies(out, "Cachemiss", machine, &PartitionStatistics::server_latency_ns);
  add_whole_iteration(out, machine);
  Json seconds = Json::array();
  for (std::size_t i = 0; i < machine.sum.seconds.size(); ++i) {
    seconds.push_back(second_record(i, machine.sum.seconds[i]));
  }
  out["per_second"] = std::move(seconds);
  return out;
}

}  // namespace turntable::kv
