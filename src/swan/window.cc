#include "swan/window.h"

#include "node/process.h"

namespace turntable::swan {

std::vector<pid_t> processes_of_testbed(const std::string& testbed) {
  std::vector<pid_t> processes;
  if (testbed.empty()) return processes;
  for (const pid_t pid : node::all_processes())
    if (node::environment_of(pid, "TURNTABLE_TESTBED") == testbed) processes.push_back(pid);
  return processes;
}

}  // namespace turntable::swan
