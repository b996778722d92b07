// Where this machine's control groups are, and which version of them it has.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace turntable::swan {

// Of a group of version 2: the controllers that its own groups may have.
inline constexpr const char* kSubtree = "cgroup.subtree_control";

struct CgroupTree {
  int version = 0;  // 1, 2, or 0: neither has the controller cpu
  // Of cpu, cpuacct (version 1) and cpuset, those in which this process may make groups: the root
  // of the controller's hierarchy. Several controllers may have one hierarchy.
  std::map<std::string, std::filesystem::path> controllers;

  bool has(const std::string& controller) const { return controllers.contains(controller); }
  // Whether a group of one controller can hold other processes than one of the other.
  bool apart(const std::string& one, const std::string& other) const;
};

// `mounts` is /proc/self/mounts, or another file in tests.
CgroupTree find_cgroups(const std::filesystem::path& mounts = "/proc/self/mounts");

// {"version", "controllers", "tested"}: version 1 is what this was tested on.
nlohmann::json to_json(const CgroupTree& tree);

// The file of a group or of resctrl, as one text without the newline at its end.
std::string read_control(const std::filesystem::path& file);
// Throws CommandError that says what was written where, and what the kernel answered: "unsupported"
// where the kernel lacks this control, else as code_of_refusal (swan/refusal.h) tells.
void write_control(const std::filesystem::path& file, const std::string& text);

}  // namespace turntable::swan
