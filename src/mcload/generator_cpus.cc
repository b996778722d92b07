#include "mcload/generator_cpus.h"

#include <nlohmann/json.hpp>

#include "node/arguments.h"
#include "placement/cpu_list.h"
#include "placement/placement.h"

namespace turntable::mcload {
namespace {

std::vector<int> named_cpus(const std::string& where, const nlohmann::json& placement) {
  const node::Arguments fields(where, placement, {"cpus"});
  const std::vector<int> allowed = allowed_cpus();
  std::vector<int> cpus;
  for (const std::int64_t cpu : fields.integers("cpus", 0, INT32_MAX)) {
    if (!contains(allowed, static_cast<int>(cpu)))
      fields.fail("cpus", cpu, "processors that are online and that this process may use");
    cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

}  // namespace

std::vector<int> generator_cpus(const std::string& where, const nlohmann::json& placement) {
  if (placement.is_null()) return {};
  const std::string here = where + ", placement";
  if (placement.is_object() && placement.contains("cpus")) return named_cpus(here, placement);
  const PlacementRequest request = placement_request(here, placement);
  // The layout is that of another machine.
  if (!request.one_machine) return request.generator;
  return place(read_topology(), request).generator;
}

}  // namespace turntable::mcload
