#include "farreach/kv/open_raw_statistics.h"

#include <nlohmann/json.hpp>

namespace turntable::kv {
namespace {

using Json = nlohmann::json;

Json partition_row(unsigned partition, const OpenPartition& open, const PartitionStatistics& all) {
  return {{"partition", partition},
          {"offered", open.offered},
          {"server_answered", all.server_latency_ns.count()},
          {"switch_answered", all.switch_latency_ns.count()},
          {"from_send_ns", open.from_send_ns.encode()},
          {"from_send_sum_ns", open.from_send_ns.sum()},
          {"server_path_ns", open.server_path_ns.encode()},
          {"server_path_sum_ns", open.server_path_ns.sum()},
          {"server_path_count", open.server_path_ns.count()},
          {"switch_path_ns", open.switch_path_ns.encode()},
          {"switch_path_sum_ns", open.switch_path_ns.sum()},
          {"switch_path_count", open.switch_path_ns.count()}};
}

Json loop_row(const load::OpenLoopStatistics& loop) {
  Json halves = Json::array();
  for (const stats::Histogram& half : loop.halves) halves.push_back(half.encode());
  return {{"offered", loop.offered},
          {"delivered", loop.delivered},
          {"lost", loop.lost},
          {"unsent", loop.unsent},
          {"withheld", loop.withheld},
          {"given_up", loop.given_up},
          {"redundant", loop.redundant},
          {"latency_sum_ns", loop.latency_ns.sum()},
          {"latency_count", loop.latency_ns.count()},
          {"halves", std::move(halves)},
          {"send_late_ns", loop.send_late_ns.encode()},
          {"send_late_max_ns", loop.send_late_ns.max()},
          {"read_late_max_ns", loop.read_late_ns.max()}};
}

}  // namespace

Json open_raw_statistics(const Replay& replay, std::span<const OpenClient* const> threads) {
  load::OpenLoopStatistics loop = threads.front()->loop().statistics();
  std::vector<OpenPartition> open = threads.front()->book().open;
  std::vector<PartitionStatistics> all = threads.front()->statistics().partitions;
  for (const OpenClient* thread : threads.subspan(1)) {
    loop.merge(thread->loop().statistics());
    for (std::size_t i = 0; i < open.size(); ++i) {
      open[i].merge(thread->book().open[i]);
      all[i].merge(thread->statistics().partitions[i]);
    }
  }
  Json out = loop_row(loop);
  Json rows = Json::array();
  for (std::size_t i = 0; i < open.size(); ++i)
    rows.push_back(partition_row(replay.partitions()[i], open[i], all[i]));
  out["partitions"] = std::move(rows);
  return out;
}

}  // namespace turntable::kv
