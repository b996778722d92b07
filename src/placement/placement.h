// Which processors the high-priority job, the aggressors and the load generator get.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "placement/cpu_list.h"
#include "placement/topology.h"

namespace turntable {

enum class Layout : std::uint8_t { kSameCore, kSharedCache, kAutomatic, kManual };

struct PlacementRequest {
  Layout layout = Layout::kSameCore;
  int hp_count = 1;
  int be_count = 1;          // 0: there is no job, so that nothing is kept for one
  CpuList hp, l1, l3;        // manual, all three
  CpuList generator;         // empty: derived
  bool one_machine = false;  // the generator runs on this machine, too
};

// Of a command's argument: {"layout", ["hp_count"], ["be_count"], ["hp_cpus"], ["l1_cpus"],
// ["l3_cpus"], ["generator_cpus"], ["one_machine"], ["use"]}; the last one is the caller's. Throws
// CommandError; `where` begins the message.
PlacementRequest placement_request(const std::string& where, const nlohmann::json& json);

struct Placement {
  CpuList hp, l1, l3;
  CpuList generator;  // empty: not pinned
  std::vector<std::string> notes;
};

// Throws CommandError when the machine has too few processors for what is asked.
//
// same-core: hp, l1 and l3 are the first hp_count processors, the generator has all others.
// shared-cache: hp has the first hp_count, l1 and l3 the next be_count, the generator those that
//   remain, or the aggressor's where none does.
// automatic: Swan's rule. One hardware thread per core of one socket: the first hp_count are hp's,
//   l1 has their siblings, l3 the next be_count; without siblings l1 is l3. Without a job the
//   siblings are the generator's.
// manual: as asked.
Placement place(const Topology& topology, const PlacementRequest& request);

nlohmann::json to_json(const Placement& placement);

}  // namespace turntable
