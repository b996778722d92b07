// Shares of the last-level cache (CAT) and of the memory bandwidth (MBA), where the kernel's
// resctrl offers them.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/unique_fd.h"

namespace turntable::swan {

class Resctrl {
 public:
  // `root`: another directory in tests. `name` begins those of its groups and ends in a number.
  Resctrl(std::filesystem::path root, std::string name);
  ~Resctrl() { clear(); }
  Resctrl(const Resctrl&) = delete;
  Resctrl& operator=(const Resctrl&) = delete;

  bool has_cat() const;
  bool has_mba() const;
  // {"cat", "mba", "why"}
  nlohmann::json description() const;

  // The group `job` gets the ways of the mask, or the percentage of the bandwidth; its directory.
  // Throws CommandError "unsupported" without such a resource, else as code_of_refusal
  // (swan/refusal.h) tells.
  std::filesystem::path give_ways(const std::string& job, unsigned long long mask);
  std::filesystem::path give_bandwidth(const std::string& job, int percent);

  // All ways of the last-level cache.
  unsigned long long all_ways() const;
  int fewest_ways() const;
  // In percent. Throws CommandError "unsupported" where the machine has other units.
  int least_bandwidth() const;

  std::vector<std::filesystem::path> directories() const;
  void clear() noexcept;
  // Removes what dead ones have left whose names differ from this one's in the last number; their
  // directories.
  std::vector<std::filesystem::path> remove_stale() const;

 private:
  void require(bool there, const std::string& what) const;
  std::filesystem::path make(const std::string& job);
  void set(const std::filesystem::path& group, const std::string& resource,
           const std::string& value) const;
  // (domain, limit) of the root group.
  std::vector<std::pair<std::string, std::string>> limits(const std::string& resource) const;

  std::filesystem::path root_;
  std::string name_;
  std::map<std::string, UniqueFd> locks_;  // by job: a directory that nobody locks is a dead one's
};

}  // namespace turntable::swan
