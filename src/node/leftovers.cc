#include "node/leftovers.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <stdexcept>

#include "node/process.h"

namespace turntable::node {
namespace {

bool carries(pid_t pid, const std::map<std::string, std::string>& mark) {
  return std::all_of(mark.begin(), mark.end(), [&](const auto& variable) {
    return environment_of(pid, variable.first) == variable.second;
  });
}

struct Leftover {
  std::string text;
  UniqueFd pidfd;
};

std::vector<Leftover> kill_all(const std::map<std::string, std::string>& mark) {
  std::vector<Leftover> killed;
  for (const pid_t pid : all_processes()) {
    if (pid == ::getpid() || !carries(pid, mark)) continue;
    UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    // Until the descriptor was open the number could go to another process.
    if (!pidfd || !carries(pid, mark)) continue;
    ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
    killed.push_back(
        {"pid " + std::to_string(pid) + ": " + command_line_of(pid), std::move(pidfd)});
  }
  return killed;
}

}  // namespace

std::vector<std::string> end_leftovers(const HostIdentity& identity,
                                       const std::filesystem::path& directory, Deadline deadline) {
  const auto mark = mark_of(identity, directory);
  std::vector<std::string> ended;
  // One that is killed may just have started another: look again until there is none.
  for (auto found = kill_all(mark); !found.empty(); found = kill_all(mark)) {
    for (const Leftover& leftover : found) {
      pollfd polled{leftover.pidfd.get(), POLLIN, 0};
      if (::poll(&polled, 1, deadline.poll_timeout_ms()) == 0) {
        throw std::runtime_error(leftover.text +
                                 ", left by an earlier run, did not end after SIGKILL; it hangs in "
                                 "the kernel (see /proc/PID/stack)");
      }
      ended.push_back(leftover.text);
    }
  }
  return ended;
}

}  // namespace turntable::node
