// Another project's store as a child: found, started, and waited for until it answers.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/children.h"

namespace turntable::textstore {

inline constexpr double kProbeSeconds = 1;  // for an answer, before it is asked again

struct StoreCommand {
  std::string name;
  std::vector<std::string> command;
  std::string listens_at;  // for messages
  double timeout_s = 5;
};

// The program's file in PATH. Throws CommandError that names Debian's package.
std::string installed_program(const std::string& program, const std::string& package);

// Returns when `answers` says so of the process; it is asked again until then. Output goes to
// `log`. Throws CommandError that says what to do, where the process ends or the time is over.
std::unique_ptr<node::Child> start_store(node::Children& children, const StoreCommand& store,
                                         const std::filesystem::path& log,
                                         const std::function<bool(pid_t)>& answers);

}  // namespace turntable::textstore
