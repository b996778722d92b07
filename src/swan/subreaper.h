// A command under a process that waits for whatever it leaves behind, so that the processor time of
// short-lived processes is known where no control group counts it.
//
// The kernel adds the time of a process to cutime and cstime of the one that waits for it
// (proc(5)); an orphan's goes to the nearest subreaper above it (PR_SET_CHILD_SUBREAPER).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace turntable::swan {

// The words that start the command that way. `program`: this one's file, which runs subreap() when
// it is started with the argument "subreap".
std::vector<std::string> under_subreaper(const std::filesystem::path& program,
                                         const std::vector<std::string>& command);

// What those words do: `command` are those behind "subreap". Passes SIGINT on and ignores SIGTERM,
// which the command gets with its process group. Ends as the command does, with its status or by
// its signal, and does not wait for what still runs then. The command gets SIGKILL when this
// process ends before it.
int subreap(const std::vector<std::string>& command);

}  // namespace turntable::swan
