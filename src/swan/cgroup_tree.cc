#include "swan/cgroup_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/command_error.h"
#include "common/unique_fd.h"
#include "swan/refusal.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;

constexpr std::array kControllers = {"cpu", "cpuacct", "cpuset"};

std::vector<std::string> words_of(std::string text, char separator) {
  std::replace(text.begin(), text.end(), separator, ' ');
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_writable(const fs::path& directory) {
  return ::access(directory.c_str(), W_OK) == 0;
}

// Fields of a line of /proc/self/mounts.
struct Mount {
  std::string device, directory, type, options;
};

void add(CgroupTree& tree, const fs::path& directory, const std::vector<std::string>& available) {
  if (!is_writable(directory)) return;
  for (const char* controller : kControllers)
    if (has_word(available, controller)) tree.controllers.emplace(controller, directory);
}

// Version 2: those that groups below this one may have. The kernel gives none to them (EBUSY) while
// this one has processes of its own, as a container's topmost does, unless they have it already;
// the machine's root, which alone has no type, is excepted.
std::vector<std::string> available_below(const fs::path& group) {
  const bool may_enable =
      !fs::exists(group / "cgroup.type") || read_control(group / "cgroup.procs").empty();
  return words_of(read_control(group / (may_enable ? "cgroup.controllers" : kSubtree)), ' ');
}

}  // namespace

bool CgroupTree::apart(const std::string& one, const std::string& other) const {
  return has(one) && has(other) && controllers.at(one) != controllers.at(other);
}

CgroupTree find_cgroups(const fs::path& mounts) {
  CgroupTree first{.version = 1, .controllers = {}};
  CgroupTree second{.version = 2, .controllers = {}};
  bool first_has_cpu = false;
  bool second_has_cpu = false;
  std::ifstream file(mounts);
  for (std::string line; std::getline(file, line);) {
    Mount mount;
    std::istringstream(line) >> mount.device >> mount.directory >> mount.type >> mount.options;
    if (mount.type == "cgroup") {
      const auto options = words_of(mount.options, ',');
      first_has_cpu = first_has_cpu || has_word(options, "cpu");
      add(first, mount.directory, options);
    } else if (mount.type == "cgroup2") {
      const auto available = available_below(mount.directory);
      second_has_cpu = second_has_cpu || has_word(available, "cpu");
      add(second, mount.directory, available);
    }
  }
  if (first_has_cpu) return first;
  if (second_has_cpu) return second;
  return {};
}

nlohmann::json to_json(const CgroupTree& tree) {
  nlohmann::json controllers = nlohmann::json::object();
  for (const auto& [name, directory] : tree.controllers) controllers[name] = directory.native();
  return {{"version", tree.version == 0 ? nlohmann::json(nullptr) : nlohmann::json(tree.version)},
          {"controllers", std::move(controllers)},
          {"tested", tree.version == 1}};
}

// That of a process that ends meanwhile fails to be read (ESRCH): then what came so far. A stream's
// iterator would throw, its `read` does not.
std::string read_control(const fs::path& file) {
  std::ifstream stream(file);
  std::array<char, 4096> chunk;
  std::string text;
  while (stream.read(chunk.data(), chunk.size()), stream.gcount() > 0)
    text.append(chunk.data(), static_cast<std::size_t>(stream.gcount()));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

void write_control(const fs::path& file, const std::string& text) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC));
  const bool is_written =
      fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (is_written) return;
  const int error = errno;
  // A kernel that does not have this control, unlike a group that somebody has removed.
  const bool lacks_it = !fd && error == ENOENT && fs::exists(file.parent_path());
  throw CommandError(
      lacks_it ? "unsupported" : code_of_refusal(error),
      "cannot write \"" + text + "\" to " + file.native() + ": " + std::strerror(error));
}

}  // namespace turntable::swan
