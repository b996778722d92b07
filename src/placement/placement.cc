#include "placement/placement.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "node/arguments.h"

namespace turntable {
namespace {

using Json = nlohmann::json;

constexpr int kMostCount = 4096;

Layout layout_of(const node::Arguments& arguments) {
  static const std::map<std::string, Layout> layouts = {{"same-core", Layout::kSameCore},
                                                        {"shared-cache", Layout::kSharedCache},
                                                        {"automatic", Layout::kAutomatic},
                                                        {"manual", Layout::kManual}};
  const std::string name = arguments.text("layout");
  const auto layout = layouts.find(name);
  if (layout == layouts.end())
    arguments.fail("layout", name, "same-core, shared-cache, automatic or manual");
  return layout->second;
}

std::string processors(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " processor" : " processors");
}

[[noreturn]] void too_few(const std::string& layout, std::size_t wanted, std::size_t there,
                          const std::string& hint) {
  throw bad_argument("placement, layout " + layout + ": " + processors(wanted) +
                     " needed, this process may use " + processors(there) + "; " + hint);
}

void require_usable(const char* name, const CpuList& wanted, const CpuList& usable) {
  if (const CpuList missing = without(wanted, usable); !missing.empty()) {
    throw bad_argument("placement: \"" + std::string(name) + "\" is \"" + cpu_list_text(wanted) +
                       "\", but this process cannot use " + cpu_list_text(missing) +
                       "; expected some of " + cpu_list_text(usable) +
                       ", which are online and allowed");
  }
}

CpuList join(const CpuList& a, const CpuList& b) {
  CpuList both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

CpuList first_of(const CpuList& cpus, std::size_t from, int count) {
  const auto begin = cpus.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + count};
}

Placement same_core(const CpuList& usable, const PlacementRequest& request) {
  if (usable.size() < static_cast<std::size_t>(request.hp_count)) {
    too_few("same-core", static_cast<std::size_t>(request.hp_count), usable.size(),
            "expected a smaller hp_count");
  }
  const CpuList hp = first_of(usable, 0, request.hp_count);
  return {.hp = hp, .l1 = hp, .l3 = hp, .generator = {}, .notes = {}};
}

Placement shared_cache(const CpuList& usable, const PlacementRequest& request) {
  const auto hp_count = static_cast<std::size_t>(request.hp_count);
  const std::size_t wanted = hp_count + static_cast<std::size_t>(request.be_count);
  if (usable.size() < wanted) {
    too_few("shared-cache", wanted, usable.size(),
            "expected smaller hp_count and be_count, or layout same-core");
  }
  const CpuList be = first_of(usable, hp_count, request.be_count);
  return {.hp = first_of(usable, 0, request.hp_count),
          .l1 = be,
          .l3 = be,
          .generator = {},
          .notes = {}};
}

// The first hardware thread of every core, by socket.
std::map<int, CpuList> cores_by_socket(const Topology& topology) {
  std::map<int, CpuList> sockets;
  CpuList seen;
  for (const Cpu& cpu : topology.cpus) {
    if (contains(seen, cpu.number)) continue;
    seen = join(seen, cpu.siblings);
    sockets[cpu.socket].push_back(cpu.number);
  }
  return sockets;
}

Placement automatic(const Topology& topology, const PlacementRequest& request) {
  const auto hp_count = static_cast<std::size_t>(request.hp_count);
  const std::size_t wanted = hp_count + static_cast<std::size_t>(request.be_count);
  std::size_t most = 0;
  for (const auto& [socket, cores] : cores_by_socket(topology)) {
    most = std::max(most, cores.size());
    if (cores.size() < wanted) continue;
    Placement placement{.hp = first_of(cores, 0, request.hp_count),
                        .l1 = {},
                        .l3 = first_of(cores, hp_count, request.be_count),
                        .generator = {},
                        .notes = {}};
    if (request.be_count == 0) return placement;
    for (const int cpu : placement.hp)
      placement.l1 = join(placement.l1, topology.cpu(cpu).siblings);
    const CpuList usable = topology.numbers();
    placement.l1 = without(placement.l1, placement.hp);
    placement.l1 = without(placement.l1, without(placement.l1, usable));
    if (placement.l1.empty()) {
      placement.l1 = placement.l3;
      placement.notes.push_back("no siblings: processors " + cpu_list_text(placement.hp) +
                                " share their L1 with no other that may be used; aggressors of L1 "
                                "get those of L3");
    }
    return placement;
  }
  throw bad_argument("placement, layout automatic: " + std::to_string(wanted) +
                     " cores of one socket needed, the largest has " + std::to_string(most) +
                     "; expected smaller hp_count and be_count, or layout same-core or "
                     "shared-cache");
}

Placement manual(const CpuList& usable, const PlacementRequest& request) {
  if (request.hp.empty() || request.l1.empty() || request.l3.empty()) {
    throw bad_argument(
        "placement, layout manual: expected hp_cpus, l1_cpus and l3_cpus, none of them empty");
  }
  require_usable("hp_cpus", request.hp, usable);
  require_usable("l1_cpus", request.l1, usable);
  require_usable("l3_cpus", request.l3, usable);
  return {.hp = request.hp, .l1 = request.l1, .l3 = request.l3, .generator = {}, .notes = {}};
}

// Nobody chose the generator's processors, and all of the machine's are taken.
void share_with_generator(const PlacementRequest& request, Placement& placement) {
  if (request.layout == Layout::kAutomatic) {
    throw bad_argument(
        "placement, layout automatic: no processor is left for the load generator, which runs on "
        "this machine; expected a machine with more, generator_cpus, or layout same-core or "
        "shared-cache");
  }
  if (request.layout == Layout::kSharedCache && request.be_count > 0) {
    placement.generator = placement.l3;
    placement.notes.push_back("the generator shares processors " + cpu_list_text(placement.l3) +
                              " with the aggressor: no other is left");
    return;
  }
  placement.notes.emplace_back("the generator is not pinned: no processor is left for it");
}

void place_generator(const CpuList& usable, const PlacementRequest& request, Placement& placement) {
  if (!request.generator.empty()) {
    require_usable("generator_cpus", request.generator, usable);
    placement.generator = request.generator;
    return;
  }
  if (!request.one_machine) return;
  placement.generator = without(usable, join(placement.hp, join(placement.l1, placement.l3)));
  if (placement.generator.empty()) share_with_generator(request, placement);
}

}  // namespace

PlacementRequest placement_request(const std::string& where, const Json& json) {
  const node::Arguments arguments(where + ", placement", json,
                                  {"layout", "hp_count", "be_count", "hp_cpus", "l1_cpus",
                                   "l3_cpus", "generator_cpus", "one_machine", "use"});
  const auto cpus = [&](const char* name) {
    return parse_cpu_list(where + ", placement: \"" + name + "\"", arguments.text_or(name, ""));
  };
  return {.layout = layout_of(arguments),
          .hp_count = static_cast<int>(arguments.integer_or("hp_count", 1, kMostCount, 1)),
          .be_count = static_cast<int>(arguments.integer_or("be_count", 0, kMostCount, 1)),
          .hp = cpus("hp_cpus"),
          .l1 = cpus("l1_cpus"),
          .l3 = cpus("l3_cpus"),
          .generator = cpus("generator_cpus"),
          .one_machine = json.contains("one_machine") && arguments.boolean("one_machine")};
}

Placement place(const Topology& topology, const PlacementRequest& request) {
  const CpuList usable = topology.numbers();
  const auto placed = [&] {
    switch (request.layout) {
      case Layout::kSameCore:
        return same_core(usable, request);
      case Layout::kSharedCache:
        return shared_cache(usable, request);
      case Layout::kAutomatic:
        return automatic(topology, request);
      case Layout::kManual:
        break;
    }
    return manual(usable, request);
  };
  Placement placement = placed();
  place_generator(usable, request, placement);
  return placement;
}

Json to_json(const Placement& placement) {
  return {{"hp", placement.hp},
          {"l1", placement.l1},
          {"l3", placement.l3},
          {"generator", placement.generator},
          {"notes", placement.notes}};
}

}  // namespace turntable
