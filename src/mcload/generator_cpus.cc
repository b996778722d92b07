#include "mcload/generator_cpus.h"

#include <sched.h>

#include <nlohmann/json.hpp>

#include "node/arguments.h"

namespace turntable::mcload {

std::vector<int> generator_cpus(const std::string& where, const nlohmann::json& placement) {
  if (placement.is_null()) return {};
  const node::Arguments fields(where + ", placement", placement, {"cpus"});
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cpus;
  for (const std::int64_t cpu : fields.integers("cpus", 0, CPU_SETSIZE - 1)) {
    if (!CPU_ISSET(static_cast<int>(cpu), &allowed))
      fields.fail("cpus", cpu, "processors that are online and that this process may use");
    cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

}  // namespace turntable::mcload
