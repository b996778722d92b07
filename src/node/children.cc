#include "node/children.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "common/errno_error.h"
#include "node/node_keeper.h"

namespace turntable::node {
namespace {

namespace fs = std::filesystem;

constexpr double kKillSeconds = 10;
constexpr std::size_t kMostOutput = 64U << 10U;

bool wait_readable(int fd, Deadline deadline) {
  pollfd polled{fd, POLLIN, 0};
  while (true) {
    const int ready = ::poll(&polled, 1, deadline.poll_timeout_ms());
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

bool is_program(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Child::~Child() {
  send(SIGKILL);
  if (wait(Deadline::after_seconds(kKillSeconds))) ::waitpid(pid(), nullptr, 0);
}

void Child::send(int signal) const {
  ::syscall(SYS_pidfd_send_signal, pidfd(), signal, nullptr, 0U);  // ESRCH: it has ended
}

bool Child::wait(Deadline deadline) const {
  return wait_readable(pidfd(), deadline);
}

std::optional<NodeExit> Child::exit() const {
  siginfo_t info{};
  const int options = WEXITED | WNOHANG | WNOWAIT;
  if (::waitid(P_PID, static_cast<id_t>(pid()), &info, options) != 0 || info.si_pid != pid())
    return {};
  NodeExit exit;
  exit.by_signal = info.si_code != CLD_EXITED;
  exit.value = info.si_status;
  return exit;
}

std::string Child::end() const {
  const auto ended = exit();
  return ended ? ended->describe() : std::string();
}

std::optional<int> Child::exit_status() const {
  const auto ended = exit();
  return ended && !ended->by_signal ? std::optional(ended->value) : std::nullopt;
}

Children::Children() {
  thread_ = std::thread([this] {
    pollfd polled{tasks_.fd(), POLLIN, 0};
    while (!stop_) {
      ::poll(&polled, 1, -1);
      tasks_.run_pending();
    }
    tasks_.close();
  });
}

Children::~Children() {
  stop_ = true;
  tasks_.wake();
  thread_.join();
}

std::unique_ptr<Child> Children::start(const ProcessSpec& spec) {
  return tasks_.call([&] { return std::make_unique<Child>(start_process(spec)); },
                     Deadline::never());
}

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? fs::path(name) : fs::path();
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (is_program(fs::path(directory) / name)) return fs::path(directory) / name;
  }
  return {};
}

std::string output_of(Children& children, const std::vector<std::string>& command,
                      Deadline deadline) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw errno_error("cannot create a pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  std::unique_ptr<Child> child;
  try {
    child = children.start({.argv = command,
                            .environment = {},
                            .log_file = "/proc/self/fd/" + std::to_string(writer.get()),
                            .input = {}});
  } catch (const std::system_error&) {
    return {};
  }
  writer.reset();
  std::string output;
  std::array<char, 4096> chunk{};
  while (output.size() < kMostOutput && wait_readable(reader.get(), deadline)) {
    const ssize_t got = ::read(reader.get(), chunk.data(), chunk.size());
    if (got <= 0) return output;
    output.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return output.size() < kMostOutput ? std::string() : output;
}

}  // namespace turntable::node
