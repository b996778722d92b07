#include "shadowfax/server/log_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <thread>

#include "common/deadline.h"
#include "common/errno_error.h"

namespace turntable::shadowfax {
namespace {

constexpr mode_t kMode = 0644;
// Reads under way of a process that was killed keep its files open for a moment.
constexpr double kWaitSeconds = 5;
constexpr std::chrono::milliseconds kProbeInterval{10};

}  // namespace

UniqueFd lock_log(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (!file) throw errno_error("cannot open " + path);
  const Deadline deadline = Deadline::after_seconds(kWaitSeconds);
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error != EWOULDBLOCK && error != EINTR) throw errno_error("cannot lock " + path, error);
    if (deadline.passed())
      throw errno_error(path + " is the log of a server that runs; expected a file of its own",
                        error);
    std::this_thread::sleep_for(kProbeInterval);  // waits: interval of a probe with a deadline
  }
  return file;
}

}  // namespace turntable::shadowfax
