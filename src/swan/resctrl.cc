#include "swan/resctrl.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/command_error.h"
#include "swan/cgroup_tree.h"
#include "swan/control_groups.h"
#include "swan/refusal.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;

constexpr std::array kJobs = {"hp", "be"};

std::string hexadecimal(unsigned long long mask) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%llx", mask);
  return text.data();
}

}  // namespace

Resctrl::Resctrl(fs::path root, std::string name)
    : root_(std::move(root)), name_(std::move(name)) {}

bool Resctrl::has_cat() const {
  return fs::exists(root_ / "info/L3/cbm_mask");
}

bool Resctrl::has_mba() const {
  return fs::exists(root_ / "info/MB/min_bandwidth");
}

nlohmann::json Resctrl::description() const {
  std::string why;
  if (!fs::exists(root_)) {
    why = "the kernel has no " + root_.native() +
          ": the processor has no RDT, or a virtual machine does not show it";
  } else if (!fs::exists(root_ / "info")) {
    why = root_.native() + " is not mounted: mount -t resctrl resctrl " + root_.native();
  } else if (!has_cat() || !has_mba()) {
    why = "the processor offers only a part of it";
  }
  return {{"cat", has_cat()}, {"mba", has_mba()}, {"why", why}};
}

void Resctrl::require(bool there, const std::string& what) const {
  if (there) return;
  throw CommandError("unsupported", "this machine has no " + what + ": " +
                                        description()["why"].get<std::string>() +
                                        "; leave cells of this mechanism out");
}

unsigned long long Resctrl::all_ways() const {
  require(has_cat(), "CAT");
  return std::stoull(read_control(root_ / "info/L3/cbm_mask"), nullptr, 16);
}

int Resctrl::fewest_ways() const {
  require(has_cat(), "CAT");
  return std::stoi(read_control(root_ / "info/L3/min_cbm_bits"));
}

int Resctrl::least_bandwidth() const {
  require(has_mba(), "MBA");
  for (const auto& [domain, limit] : limits("MB")) {
    if (std::stod(limit) <= 100) continue;
    throw CommandError("unsupported", (root_ / "schemata").native() + " has MB:" + domain + "=" +
                                          limit +
                                          ", which is no percentage (AMD's processors count in "
                                          "1/8 GB/s, the mount option mba_MBps in MB/s); leave "
                                          "cells of mba out");
  }
  return std::stoi(read_control(root_ / "info/MB/min_bandwidth"));
}

fs::path Resctrl::give_ways(const std::string& job, unsigned long long mask) {
  require(has_cat(), "CAT");
  fs::path group = make(job);
  set(group, "L3", hexadecimal(mask));
  return group;
}

fs::path Resctrl::give_bandwidth(const std::string& job, int percent) {
  require(has_mba(), "MBA");
  fs::path group = make(job);
  set(group, "MB", std::to_string(percent));
  return group;
}

fs::path Resctrl::make(const std::string& job) {
  fs::path group = root_ / (name_ + "." + job);
  if (::mkdir(group.c_str(), 0755) == 0 || errno == EEXIST) {
    locks_[job] = try_lock(group);
    return group;
  }
  const int error = errno;
  throw CommandError(code_of_refusal(error),
                     "cannot make " + group.native() + ": " + std::strerror(error) +
                         "; the processor may have no class of service left");
}

// The same in all domains: "L3:0=3;1=3".
void Resctrl::set(const fs::path& group, const std::string& resource,
                  const std::string& value) const {
  std::string wanted = resource + ":";
  for (const auto& [domain, limit] : limits(resource)) {
    wanted += wanted.ends_with(':') ? "" : ";";
    wanted.append(domain).append("=").append(value);
  }
  write_control(group / "schemata", wanted.append("\n"));
}

std::vector<std::pair<std::string, std::string>> Resctrl::limits(
    const std::string& resource) const {
  std::istringstream lines(read_control(root_ / "schemata"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    const std::size_t begin = line.find_first_not_of(' ');
    if (colon == std::string::npos || line.substr(begin, colon - begin) != resource) continue;
    std::istringstream domains(line.substr(colon + 1));
    std::vector<std::pair<std::string, std::string>> limits;
    for (std::string domain; std::getline(domains, domain, ';');) {
      const std::size_t equals = domain.find('=');
      limits.emplace_back(domain.substr(0, equals), domain.substr(equals + 1));
    }
    return limits;
  }
  throw CommandError("unsupported", (root_ / "schemata").native() + " has no line of " + resource);
}

std::vector<fs::path> Resctrl::directories() const {
  std::vector<fs::path> directories;
  directories.reserve(kJobs.size());
  for (const char* job : kJobs) directories.push_back(root_ / (name_ + "." + job));
  return directories;
}

void Resctrl::clear() noexcept {
  for (const char* job : kJobs) ::rmdir((root_ / (name_ + "." + job)).c_str());
  locks_.clear();
}

std::vector<fs::path> Resctrl::remove_stale() const {
  const std::size_t number = name_.rfind('.') + 1;
  std::vector<fs::path> removed;
  for (const fs::path& group : groups_below(root_)) {
    const std::string name = group.stem();  // without the job
    const bool is_one = name.starts_with(name_.substr(0, number)) && ends_in_number(name, number);
    const std::string job = group.extension().native();
    const bool is_of_a_job = std::any_of(kJobs.begin(), kJobs.end(), [&](const char* each) {
      return job == std::string(".") + each;
    });
    if (!is_one || !is_of_a_job) continue;
    const UniqueFd lock = try_lock(group);
    if (!lock) continue;  // its owner lives
    if (::rmdir(group.c_str()) != 0 && errno != ENOENT) {
      throw CommandError(
          "unavailable",
          group.native() +
              ", which a killed colocator has left, cannot be removed: " + std::strerror(errno));
    }
    removed.push_back(group);
  }
  return removed;
}

}  // namespace turntable::swan
