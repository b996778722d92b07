// Starting and ending of child processes.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/unique_fd.h"

namespace turntable::node {

struct ProcessSpec {
  std::vector<std::string> argv;  // argv[0]: an absolute path, or a name that is looked up in PATH
  std::map<std::string, std::string> environment;  // added to the parent's, or replacing
  std::filesystem::path log_file;                  // standard output and error are appended to it
  std::string input;                               // what standard input holds
};

struct Process {
  pid_t pid = -1;
  UniqueFd pidfd;
};

// Starts the program in a session of its own, with the standard descriptors alone and default
// signal handling; `input` is in memory, for this process only. The kernel sends it SIGKILL when
// the calling *thread* ends (PR_SET_PDEATHSIG), so call this from a thread that lives as long as
// the children may. Throws std::system_error that names the program when it cannot be executed.
Process start_process(const ProcessSpec& spec);

// All processes of this machine (of this pid namespace), from /proc.
std::vector<pid_t> all_processes();

// The children of this process that run now, from /proc. As a subreaper's children they include
// orphans.
std::vector<pid_t> child_processes();

// The value of `name` in the environment the process was started with, empty if unknown.
std::string environment_of(pid_t pid, const std::string& name);

// Its arguments with spaces between them, empty if unknown.
std::string command_line_of(pid_t pid);

}  // namespace turntable::node
