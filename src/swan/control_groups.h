// The control groups of one colocator, and their end.
//
// In every hierarchy there is one directory, turntable.TESTBED.HOST.PID, with the groups below it.
// Its owner holds a flock on it, so that a directory that nobody has locked is a dead one's.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/deadline.h"
#include "common/unique_fd.h"
#include "swan/cgroup_tree.h"

namespace turntable::swan {

class ControlGroups {
 public:
  // `owner`: testbed and host, which all directories' names begin with.
  ControlGroups(CgroupTree tree, const std::string& testbed, const std::string& host);
  ~ControlGroups();  // as clear()
  ControlGroups(const ControlGroups&) = delete;
  ControlGroups& operator=(const ControlGroups&) = delete;

  // Called before a file outside of these groups is changed: with the file, and what is to be
  // written to it to undo that.
  using Changing =
      std::function<void(const std::filesystem::path& control, const std::string& undo)>;
  void on_change(Changing changing) { changing_ = std::move(changing); }

  const CgroupTree& tree() const { return tree_; }
  // Of this colocator, whether they exist or not.
  std::vector<std::filesystem::path> directories() const;

  // The group `name` of that controller, which is made if it does not exist. Throws CommandError
  // "unsupported" without that controller, else as code_of_refusal (swan/refusal.h) tells.
  std::filesystem::path make(const std::string& controller, const std::string& name);

  // Version 2: a group below one of these, without a controller of its own: it is scheduled with
  // the one above and counted by itself.
  static std::filesystem::path make_below(const std::filesystem::path& group,
                                          const std::string& name);
  // Version 2: gives the groups below this one the controller, too. Throws as `make`.
  void pass_on(const std::string& controller, const std::filesystem::path& group) const;

  // Moves what is in the groups to the hierarchies' roots and removes the groups.
  void clear();

  // Ends and removes what dead colocators of this testbed and host have left; their directories.
  std::vector<std::string> remove_stale();

 private:
  void require(const std::string& controller) const;
  void enable_controllers(const std::filesystem::path& directory);
  void disable_controllers();

  CgroupTree tree_;
  std::string prefix_;
  std::string name_;
  std::map<std::filesystem::path, UniqueFd> locks_;  // by directory
  // Version 2: what the root of the hierarchy did not give to its groups before.
  std::map<std::string, std::filesystem::path> enabled_;
  Changing changing_ = [](const auto&, const auto&) {};
};

// The directories in a directory; none where it does not exist.
std::vector<std::filesystem::path> groups_below(const std::filesystem::path& directory);

// The flock of a directory; empty: somebody else has it.
UniqueFd try_lock(const std::filesystem::path& directory);

// Whether a name goes on with a number from there, and ends.
bool ends_in_number(const std::string& name, std::size_t from);

// Processes of a group and of those below it.
std::vector<pid_t> members_of(const std::filesystem::path& directory);

// Ends what is in the group and those below it with SIGKILL, and removes them. What it could not
// remove until the deadline; empty: all is gone. It may be gone before.
std::string destroy_group(const std::filesystem::path& directory, Deadline deadline);

}  // namespace turntable::swan
