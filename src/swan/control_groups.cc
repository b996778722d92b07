#include "swan/control_groups.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <set>
#include <sstream>

#include "common/command_error.h"
#include "swan/refusal.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;

constexpr int kEmptyProbeMs = 2;
constexpr int kStaleSeconds = 5;
constexpr int kClearSeconds = 5;

// Dots separate the parts of a name.
std::string part_of_name(const std::string& text) {
  std::string part;
  for (const char c : text) {
    const bool keeps = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    part += keeps ? c : '_';
  }
  return part;
}

// The kernel counts the realtime share of a group until some time after its removal, so that the
// next group would get none. Without realtime groups there is no such file.
void give_realtime_back(const fs::path& directory) {
  const UniqueFd file(::open((directory / "cpu.rt_runtime_us").c_str(), O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(!::write(file.get(), "0", 1));  // fails while it has realtime members
}

// Members first, or the kernel does not let a group go.
bool remove_groups(const fs::path& directory) {
  for (const fs::path& group : groups_below(directory)) remove_groups(group);
  give_realtime_back(directory);
  return ::rmdir(directory.c_str()) == 0 || errno == ENOENT;
}

void kill_members(const fs::path& directory) {
  for (const pid_t pid : members_of(directory)) {
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd) continue;
    // Until the descriptor was open the number could go to another process.
    const auto now = members_of(directory);
    if (std::find(now.begin(), now.end(), pid) == now.end()) continue;
    ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0U);
  }
}

void move_members(const fs::path& directory, const fs::path& to) {
  for (const pid_t pid : members_of(directory)) {
    try {
      write_control(to / "cgroup.procs", std::to_string(pid));
    } catch (const CommandError&) {  // it has ended
      continue;
    }
  }
}

void make_directory(const fs::path& directory) {
  if (::mkdir(directory.c_str(), 0755) == 0 || errno == EEXIST) return;
  const int error = errno;
  throw CommandError(code_of_refusal(error),
                     "cannot make the control group " + directory.native() + ": " +
                         std::strerror(error) +
                         "; expected the rights of root and a writable hierarchy");
}

}  // namespace

ControlGroups::ControlGroups(CgroupTree tree, const std::string& testbed, const std::string& host)
    : tree_(std::move(tree)),
      prefix_("turntable." + part_of_name(testbed) + "." + part_of_name(host) + "."),
      name_(prefix_ + std::to_string(::getpid())) {}

ControlGroups::~ControlGroups() {
  try {
    clear();
  } catch (const std::exception&) {  // the guardian goes on
  }
  disable_controllers();
}

std::vector<fs::path> ControlGroups::directories() const {
  std::set<fs::path> directories;
  for (const auto& [controller, root] : tree_.controllers) directories.insert(root / name_);
  return {directories.begin(), directories.end()};
}

void ControlGroups::require(const std::string& controller) const {
  if (tree_.has(controller)) return;
  throw CommandError("unsupported",
                     "this machine has no control groups of \"" + controller +
                         "\" that may be written; expected cgroup version 1 or 2 with that "
                         "controller, the rights of root, and on version 2 no process in the "
                         "topmost group of a container");
}

fs::path ControlGroups::make(const std::string& controller, const std::string& name) {
  require(controller);
  const fs::path directory = tree_.controllers.at(controller) / name_;
  if (!locks_.contains(directory)) {
    if (tree_.version == 2) enable_controllers(directory.parent_path());
    make_directory(directory);
    locks_[directory] = try_lock(directory);
    if (tree_.version == 2) enable_controllers(directory);
  }
  make_directory(directory / name);
  if (controller == "cpuset" && tree_.version == 1) {  // without them nothing can be moved there
    for (const fs::path& group : {directory, directory / name}) {
      const fs::path parent = group.parent_path();
      write_control(group / "cpuset.cpus", read_control(parent / "cpuset.cpus"));
      write_control(group / "cpuset.mems", read_control(parent / "cpuset.mems"));
    }
  }
  return directory / name;
}

fs::path ControlGroups::make_below(const fs::path& group, const std::string& name) {
  make_directory(group / name);
  return group / name;
}

void ControlGroups::pass_on(const std::string& controller, const fs::path& group) const {
  require(controller);
  write_control(group / kSubtree, "+" + controller);
}

// Version 2: groups have only the controllers that the group above has enabled for them.
void ControlGroups::enable_controllers(const fs::path& directory) {
  for (const auto& [controller, root] : tree_.controllers) {
    std::istringstream enabled(read_control(directory / kSubtree));
    bool is_enabled = false;
    for (std::string word; enabled >> word;) is_enabled = is_enabled || word == controller;
    if (is_enabled) continue;
    const fs::path control = directory / kSubtree;
    if (directory == root) changing_(control, "-" + controller);
    write_control(control, "+" + controller);
    if (directory == root) enabled_[controller] = control;
  }
}

// Unless somebody else has groups that use it by now.
void ControlGroups::disable_controllers() {
  for (const auto& [controller, file] : enabled_) {
    try {
      write_control(file, "-" + controller);
    } catch (const CommandError&) {
      continue;
    }
  }
  enabled_.clear();
}

void ControlGroups::clear() {
  for (auto lock = locks_.begin(); lock != locks_.end(); lock = locks_.erase(lock)) {
    const fs::path& directory = lock->first;
    const Deadline deadline = Deadline::after_seconds(kClearSeconds);
    move_members(directory, directory.parent_path());
    while (!remove_groups(directory)) {
      const int error = errno;
      if (deadline.passed() || error != EBUSY) {
        const std::string why = std::strerror(error);
        throw CommandError("unavailable",
                           "control group " + directory.native() + " cannot be removed: " + why);
      }
      ::poll(nullptr, 0, kEmptyProbeMs);  // a process that has just ended is a member for a moment
      move_members(directory, directory.parent_path());
    }
  }
}

std::vector<std::string> ControlGroups::remove_stale() {
  std::vector<std::string> removed;
  for (const fs::path& own : directories()) {
    for (const fs::path& group : groups_below(own.parent_path())) {
      const std::string name = group.filename();
      if (!name.starts_with(prefix_) || !ends_in_number(name, prefix_.size())) continue;
      const UniqueFd lock = try_lock(group);
      if (!lock) continue;  // its owner lives
      const std::string left = destroy_group(group, Deadline::after_seconds(kStaleSeconds));
      if (!left.empty()) throw CommandError("unavailable", left);
      removed.push_back(group);
    }
  }
  return removed;
}

std::vector<fs::path> groups_below(const fs::path& directory) {
  std::vector<fs::path> groups;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none))
    if (entry.is_directory(none)) groups.push_back(entry.path());
  return groups;
}

UniqueFd try_lock(const fs::path& directory) {
  UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  return {};
}

bool ends_in_number(const std::string& name, std::size_t from) {
  return from < name.size() && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(from),
                                           name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<pid_t> members_of(const fs::path& directory) {
  std::vector<pid_t> members;
  std::istringstream pids(read_control(directory / "cgroup.procs"));
  // 0 stands for a process of another pid namespace.
  for (pid_t pid = 0; pids >> pid;)
    if (pid > 0) members.push_back(pid);
  for (const fs::path& group : groups_below(directory)) {
    const auto below = members_of(group);
    members.insert(members.end(), below.begin(), below.end());
  }
  return members;
}

std::string destroy_group(const fs::path& directory, Deadline deadline) {
  while (true) {
    kill_members(directory);
    if (remove_groups(directory)) return {};
    const std::string why = std::strerror(errno);
    if (deadline.passed())
      return "control group " + directory.native() + " cannot be removed: " + why;
    ::poll(nullptr, 0, kEmptyProbeMs);  // what was killed takes a moment to end
  }
}

}  // namespace turntable::swan
