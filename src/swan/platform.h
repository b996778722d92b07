// The record of the machine that a measurement was made on (what the original keeps of it), and
// what of it is not as it should be.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/children.h"
#include "placement/topology.h"
#include "swan/cgroup_tree.h"
#include "swan/resctrl.h"

namespace turntable::swan {

struct PlatformSources {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
  std::filesystem::path os_release = "/etc/os-release";
};

// Without "versions", "load" and "warnings": what files say.
nlohmann::json platform_record(const PlatformSources& sources, const Topology& topology,
                               const CgroupTree& groups, const Resctrl& resctrl);

// {"memcached", "stress-ng", "python", "scikit-learn"}: null for what is not installed.
nlohmann::json program_versions(node::Children& children, const std::string& python);

// {"running_others", "steal_share"}: shares of the processors' time over a second, apart from this
// testbed's own processes.
nlohmann::json measure_load(const std::string& testbed);

// What is not as it should be, from a record with "load". Texts for people.
nlohmann::json platform_warnings(const nlohmann::json& record);

}  // namespace turntable::swan
