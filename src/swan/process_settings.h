// How a process is to run: in which groups, on which processors, with which priority.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "placement/cpu_list.h"

namespace turntable::swan {

enum class Policy : std::uint8_t { kOther, kIdle, kFifo };

struct ProcessSettings {
  std::vector<std::filesystem::path> groups;  // control groups, and directories of resctrl
  CpuList cpus;
  int nice = 0;
  Policy policy = Policy::kOther;
};

// To a running process, all of its threads. Threads that it starts later inherit them. Throws
// CommandError that says what the kernel refused, with its code_of_refusal (swan/refusal.h); a
// process that ends meanwhile is no failure.
void apply(const ProcessSettings& settings, pid_t pid);

// Of a program that is to be started with the settings: the words of its command, behind those with
// which `program` (this one's file) first takes them for itself.
std::vector<std::string> started_with(const ProcessSettings& settings,
                                      const std::filesystem::path& program,
                                      const std::vector<std::string>& command);

// What those words do: `arguments` are those behind "enter". Returns only when it failed: the exit
// status, kForbiddenStatus where the machine cannot do it ("unsupported").
int enter(const std::vector<std::string>& arguments);
inline constexpr int kForbiddenStatus = 126;  // as shells have it for what may not be executed
// What its message has in it, beside that status: a command may end with it as well.
inline constexpr const char* kNotAsAsked = "cannot be started as asked";

// Of one thread. Throws as `apply`.
void pin(pid_t thread, const CpuList& cpus);

// The threads of a process.
std::vector<pid_t> threads_of(pid_t pid);

}  // namespace turntable::swan
