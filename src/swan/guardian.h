// A small child that removes what a colocator has made of a machine when it is killed.
//
// It waits for the end of a socket whose other end only the colocator holds, which the kernel
// closes however the colocator ends. It carries no mark of the host in its environment: a
// supervisor ends processes that do when the node that started them has ended, and this one has its
// work to do then.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/unique_fd.h"

namespace turntable::swan {

class Guardian {
 public:
  // What it will remove: directories of resctrl and control groups, with what is in them; they need
  // not exist yet. `program`: this one's file, which runs guard() when it is started with the
  // argument "guard".
  Guardian(const std::filesystem::path& program, const std::vector<std::filesystem::path>& groups,
           const std::vector<std::filesystem::path>& directories);
  ~Guardian();  // it looks a last time, and ends
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // What it will write, too, when the groups are gone: `text` to the file `control`. For what is
  // changed outside of the groups; to be told before the change. Throws CommandError
  // "unavailable" when the guardian is gone.
  void undo_with(const std::filesystem::path& control, const std::string& text);

  pid_t pid() const { return pid_; }

 private:
  UniqueFd link_;
  pid_t pid_ = -1;
};

// What the child does: `arguments` are those behind "guard". Its exit status.
int guard(const std::vector<std::string>& arguments);

}  // namespace turntable::swan
