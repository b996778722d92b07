// The lock of a host: at most one supervisor at a time owns a run directory.
//
// It is a flock(2) on <directory>/supervisor.lock, so the kernel gives it back however its holder
// ends. The file says who holds it; what changes (the lease) is asked of the holder itself.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "common/unique_fd.h"

namespace turntable::node {

class HostLock {
 public:
  // Empty when another process holds it. Throws std::system_error when the file cannot be used.
  static std::optional<HostLock> try_take(const std::filesystem::path& directory);

  // Held until every process that inherited this descriptor has closed it.
  int fd() const { return file_.get(); }

  // What the file says from now on: the owner, or after the end of a run that somebody else ended
  // by force {"dismissed": OWNER}.
  void write(const nlohmann::json& content) const;
  nlohmann::json read() const;  // null when nothing was written

 private:
  explicit HostLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

// Who holds the lock:
//   {"held": false}
//   {"held": true, "answers": true, …}                  and the answer of the supervisor to `ping`
//   {"held": true, "answers": false, "owner": {…}|null} it is starting or ending, or it hangs
nlohmann::json holder_of(const std::filesystem::path& directory);

}  // namespace turntable::node
