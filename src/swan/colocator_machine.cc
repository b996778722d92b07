// The commands of colocator that look at the machine.
#include <optional>

#include "common/command_error.h"
#include "node/arguments.h"
#include "node/kept.h"
#include "swan/colocator_node.h"
#include "swan/platform.h"
#include "swan/probe.h"

namespace turntable::swan {
namespace {

using Json = ColocatorNode::Json;

// The first of each of two sets of processors.
void use_sets(const node::Arguments& arguments, const Json& sets, const CpuList& usable,
              ProbeRequest& request) {
  const auto first = [&](const Json& set) {
    const bool is_usable = set.is_array() && !set.empty() && set.front().is_number_integer() &&
                           contains(usable, set.front().get<int>());
    if (!is_usable) {
      arguments.fail(
          "cpus", sets,
          "[[0], [1]]: one or two sets of " + cpu_list_text(usable) + ", or a placement");
    }
    return set.front().get<int>();
  };
  if (!sets.is_array() || sets.empty() || sets.size() > 2) first(nullptr);
  request.cpu = first(sets.front());
  if (sets.size() == 2) request.beside = first(sets.back());
  if (request.beside == request.cpu) request.beside.reset();
}

// HP's processor, and the nearest to it on which an aggressor or the generator may run.
void use_placement(const Placement& placement, const CpuList& usable, ProbeRequest& request) {
  request.cpu = placement.hp.front();
  for (const CpuList* set : {&placement.l1, &placement.l3, &placement.generator, &usable}) {
    for (const int cpu : *set) {
      if (contains(placement.hp, cpu)) continue;
      request.beside = cpu;
      return;
    }
  }
}

}  // namespace

Json ColocatorNode::platform(const Json& args) {
  const node::Arguments arguments("colocator platform", args, {});
  const std::lock_guard lock(mutex_);
  Json record = platform_record({}, read_topology("/sys", allowed_), groups_.tree(), resctrl_);
  record["versions"] = program_versions(children_, options_.python);
  record["load"] = measure_load(options_.testbed);
  record["warnings"] = platform_warnings(record);
  return platform_ = record;
}

Json ColocatorNode::probe(const Json& args) {
  const std::string where = "colocator probe";
  const node::Arguments arguments(where, args,
                                  {"cpus", "placement", "size_mb", "seconds", "key", "directory"});
  const Topology topology = read_topology("/sys", allowed_);
  const CpuList usable = topology.numbers();
  ProbeRequest request;
  const bool is_placement = args.contains("placement") || args.value("cpus", Json()).is_object();
  if (is_placement) {
    const char* name = args.contains("placement") ? "placement" : "cpus";
    use_placement(place(topology, placement_request(where, arguments.object(name))), usable,
                  request);
  } else if (args.contains("cpus")) {
    use_sets(arguments, args["cpus"], usable, request);
  } else {
    Placement anywhere;
    anywhere.hp = {usable.front()};
    use_placement(anywhere, usable, request);
  }
  request.size_mb = static_cast<std::size_t>(arguments.integer_or("size_mb", 1, 4096, 64));
  if (args.contains("seconds")) request.seconds = arguments.number("seconds", 0.001, 60);
  std::optional<node::Kept> first;
  if (args.contains("key"))
    first.emplace(where, arguments.text("directory"), "first-probe", arguments.text("key"));
  const std::lock_guard lock(mutex_);
  probe_ = swan::probe(topology, request);
  first_probe_ = first ? first->read() : probe_;
  if (first_probe_.is_null()) {
    first->write(probe_);
    first_probe_ = probe_;
  }
  return probe_;
}

}  // namespace turntable::swan
