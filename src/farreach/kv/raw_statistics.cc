#include "farreach/kv/raw_statistics.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace turntable::kv {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;  // of docs/raw-format.md

double us(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

Json partition_row(unsigned partition, const PartitionStatistics& p) {
  return {{"partition", partition},
          {"server_ops", p.server_ops},
          {"switch_ops", p.switch_ops},
          {"server_latency_sum_ns", p.server_latency_ns.sum()},
          {"switch_latency_sum_ns", p.switch_latency_ns.sum()},
          {"server_latency_ns", p.server_latency_ns.encode()},
          {"switch_latency_ns", p.switch_latency_ns.encode()},
          {"requests_total", p.requests_total},
          {"answers_total", p.answers_total}};
}

Json second_row(std::size_t number, const std::vector<unsigned>& partitions,
                const SecondStatistics& second) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const PartitionSecond& p = second.partitions[i];
    rows.push_back({{"partition", partitions[i]},
                    {"server_ops", p.server_ops},
                    {"switch_ops", p.switch_ops},
                    {"latency_sum_ns", p.latency_sum_ns},
                    {"latency_max_ns", p.latency_max_ns}});
  }
  return {{"second", number}, {"retries", second.retries}, {"partitions", std::move(rows)}};
}

Json thread_row(const load::ThreadTiming& thread) {
  Json row = {{"measured_ns", thread.measured_ns},
              {"start_late_us", us(thread.start_lateness_ns)},
              {"window_late_us", us(thread.window_lateness_ns)},
              {"read_late_max_us", us(thread.read_lateness_max_ns)},
              {"run_ns", nullptr},
              {"wait_ns", nullptr}};
  if (thread.scheduling) {
    row["run_ns"] = thread.scheduling->run_ns;
    row["wait_ns"] = thread.scheduling->wait_ns;
  }
  return row;
}

std::string iteration_id(const std::vector<unsigned>& partitions) {
  std::string id = "server";
  for (const unsigned partition : partitions) id += "-" + std::to_string(partition);
  return id;
}

void add_window(Json& out, const MachineStatistics& machine) {
  const auto& partitions = machine.replay.partitions();
  std::int64_t operations = 0;
  Json rows = Json::array(), seconds = Json::array();
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const PartitionStatistics& p = machine.sum.partitions[i];
    operations += p.server_ops + p.switch_ops;
    rows.push_back(partition_row(partitions[i], p));
  }
  for (std::size_t i = 0; i < machine.sum.seconds.size(); ++i) {
    seconds.push_back(second_row(i, partitions, machine.sum.seconds[i]));
  }
  out["operations"] = operations;
  out["partitions"] = std::move(rows);
  out["seconds"] = std::move(seconds);
}

void add_threads(Json& out, std::span<const load::ThreadTiming> threads) {
  double measured_ns = 0;
  std::int64_t latest_ns = 0;
  Json rows = Json::array();
  for (const load::ThreadTiming& thread : threads) {
    measured_ns += static_cast<double>(thread.measured_ns) / static_cast<double>(threads.size());
    latest_ns = std::max(latest_ns, thread.start_lateness_ns);
    rows.push_back(thread_row(thread));
  }
  out["window_ns"] = measured_ns;
  out["start_late_max_us"] = us(latest_ns);
  out["threads"] = std::move(rows);
}

void add_whole_iteration(Json& out, const ClientStatistics& sum) {
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
  std::uint64_t clamped = 0;
  for (const PartitionStatistics& p : sum.partitions) {
    clamped += p.server_latency_ns.clamped() + p.switch_latency_ns.clamped();
  }
  out["latency_clamped"] = clamped;
}

}  // namespace

Json raw_statistics(const MachineStatistics& machine) {
  Json out = {{"format", kFormat},
              {"complete", machine.complete},
              {"strid", iteration_id(machine.replay.partitions())},
              {"scale", machine.replay.scale()},
              {"idle_clients", machine.idle_clients},
              {"socket_drops", machine.socket_drops}};
  add_window(out, machine);
  add_threads(out, machine.threads);
  add_whole_iteration(out, machine.sum);
  return out;
}

}  // namespace turntable::kv
