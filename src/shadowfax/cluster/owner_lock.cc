#include "shadowfax/cluster/owner_lock.h"

#include <fcntl.h>

#include <chrono>
#include <thread>

#include "common/deadline.h"
#include "common/errno_error.h"
#include "common/file_lock.h"

namespace turntable::shadowfax {
namespace {

constexpr mode_t kMode = 0644;
// A process that was killed has its files for a moment more: it may have much memory to give back.
constexpr double kWaitSeconds = 5;
constexpr std::chrono::milliseconds kProbeInterval{10};

}  // namespace

UniqueFd lock_as_owner(const std::string& path, const std::string& what) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (!file) throw errno_error("cannot open " + path);
  const Deadline deadline = Deadline::after_seconds(kWaitSeconds);
  while (!lock_at_once(file, LOCK_EX, path)) {
    if (deadline.passed()) {
      std::string message = path;
      message.append(" is ").append(what).append(" that runs; expected a file of its own");
      throw errno_error(message, EWOULDBLOCK);
    }
    std::this_thread::sleep_for(kProbeInterval);  // waits: interval of a probe with a deadline
  }
  return file;
}

}  // namespace turntable::shadowfax
