#include "node/node_keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>

#include "common/clock.h"
#include "common/errno_error.h"
#include "node/log_tail.h"

namespace turntable::node {
namespace {

constexpr const char* kNodeVariable = "TURNTABLE_NODE";

// A process that got SIGKILL ends in microseconds unless it hangs in the kernel.
constexpr std::chrono::seconds kKillTimeout{10};
constexpr std::chrono::seconds kOrphanTimeout{2};  // the keeper's thread waits for it

UniqueFd child_signal_fd() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) throw errno_error("cannot create a signalfd");
  return fd;
}

// Of a child that this thread has not reaped, so the pid is not another's.
UniqueFd open_pidfd(pid_t pid) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) throw errno_error("cannot open a pidfd");
  return fd;
}

void send_signal(const UniqueFd& pidfd, int signal) {
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);  // ESRCH: it has ended
}

UniqueFd duplicate(const UniqueFd& fd) {
  UniqueFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) throw errno_error("cannot duplicate a descriptor");
  return copy;
}

bool wait_readable(const UniqueFd& fd, Deadline deadline) {
  pollfd polled{fd.get(), POLLIN, 0};
  while (true) {
    const int ready = ::poll(&polled, 1, deadline.poll_timeout_ms());
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

std::string join(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&now, &parts));
  return text.data();
}

}  // namespace

std::map<std::string, std::string> mark_of(const HostIdentity& identity,
                                           const std::filesystem::path& directory) {
  return {{"TURNTABLE_TESTBED", identity.testbed},
          {"TURNTABLE_HOST", identity.host},
          {"TURNTABLE_RUN_DIR", directory.native()}};
}

std::string NodeExit::describe() const {
  if (!by_signal) return "exited with status " + std::to_string(value);
  return "was ended by signal " + std::to_string(value) + " (" + ::strsignal(value) + ")";
}

NodeKeeper::NodeKeeper(HostIdentity identity, std::filesystem::path directory, double lease_s,
                       std::function<void()> on_lease_expired)
    : identity_(std::move(identity)),
      directory_(std::move(directory)),
      on_lease_expired_(std::move(on_lease_expired)),
      child_signals_(child_signal_fd()),
      lease_timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!lease_timer_) throw errno_error("cannot create a timerfd");
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) throw errno_error("cannot become a child subreaper");
  thread_ = std::thread([this] { loop(); });
  renew(lease_s);
}

NodeKeeper::~NodeKeeper() {
  try {
    end_all(Deadline::after(kKillTimeout));
  } catch (const std::exception& error) {  // the kernel ends the nodes with this thread's end
    std::cerr << "supervisor: cannot end the nodes in order: " << error.what() << std::endl;
  }
  stop_loop_ = true;
  tasks_.wake();
  thread_.join();
}

void NodeKeeper::loop() {
  std::array<pollfd, 3> polled = {{{tasks_.fd(), POLLIN, 0},
                                   {child_signals_.get(), POLLIN, 0},
                                   {lease_timer_.get(), POLLIN, 0}}};
  while (!stop_loop_) {
    ::poll(polled.data(), polled.size(), -1);
    if (polled[1].revents != 0) reap();
    if (polled[2].revents != 0) check_lease();
    tasks_.run_pending();
  }
  tasks_.close();
}

void NodeKeeper::check_lease() {
  std::uint64_t expirations = 0;
  if (::read(lease_timer_.get(), &expirations, sizeof(expirations)) != sizeof(expirations)) return;
  lease_expired_ = true;
  on_lease_expired_();
}

void NodeKeeper::reap() {
  signalfd_siginfo signal{};
  while (::read(child_signals_.get(), &signal, sizeof(signal)) > 0) continue;
  // Ending an orphan may orphan its own children, so this repeats until nothing is left of an ended
  // node.
  const Deadline deadline = Deadline::after(kOrphanTimeout);
  while (reap_zombies() && end_orphans(deadline)) continue;
}

bool NodeKeeper::reap_zombies() {
  bool reaped = false;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0; reaped = true)
    record_exit(pid, status);
  return reaped;
}

void NodeKeeper::record_exit(pid_t pid, int status) {
  for (auto& [name, node] : nodes_) {
    if (node.info.pid != pid || node.info.exit) continue;
    NodeExit& exit = node.info.exit.emplace();
    exit.by_signal = WIFSIGNALED(status);
    exit.value = exit.by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
    exit.at_ns = realtime_ns();
  }
}

// Adopted processes whose node has ended are ended too. True: there were some, and they are zombies
// now.
bool NodeKeeper::end_orphans(Deadline deadline) {
  bool ended = false;
  for (const pid_t pid : child_processes()) {
    const auto node = nodes_.find(environment_of(pid, kNodeVariable));
    if (node == nodes_.end() || !node->second.info.exit) continue;
    const UniqueFd pidfd = open_pidfd(pid);
    send_signal(pidfd, SIGKILL);
    ended = wait_readable(pidfd, deadline) || ended;
  }
  return ended;
}

NodeKeeper::Started NodeKeeper::start(const std::string& name, const std::vector<std::string>& argv,
                                      const std::map<std::string, std::string>& environment,
                                      const std::string& input) {
  return tasks_.call([&] { return start_on_loop(name, argv, environment, input); },
                     Deadline::never());
}

NodeKeeper::Started NodeKeeper::start_on_loop(const std::string& name,
                                              const std::vector<std::string>& argv,
                                              std::map<std::string, std::string> environment,
                                              const std::string& input) {
  reap();
  if (ending_ || lease_expired_)
    throw CommandError("unavailable", "spawn " + name + ": the supervisor is ending");
  const auto existing = nodes_.find(name);
  if (existing != nodes_.end() && !existing->second.info.exit) {
    throw CommandError("wrong_state", "spawn " + name + ": it runs already, with pid " +
                                          std::to_string(existing->second.info.pid) +
                                          "; stop it first");
  }
  for (auto& [variable, value] : mark_of(identity_, directory_)) environment[variable] = value;
  environment[kNodeVariable] = name;

  Node node;
  node.info = {name, argv, -1, realtime_ns(), directory_ / (name + ".log"), 0, std::nullopt};
  std::ofstream(node.info.log_file, std::ios::app)
      << "---- " << utc_now() << " supervisor starts: " << join(argv) << '\n';
  node.info.log_begin = log_size(node.info.log_file);
  try {
    Process process = start_process({argv, environment, node.info.log_file, input});
    node.info.pid = process.pid;
    node.pidfd = std::move(process.pidfd);
  } catch (const std::system_error& error) {
    throw CommandError("unavailable", "spawn " + name + ": " + error.what() +
                                          "; check that the program is built and its path");
  }
  Started started{node.info, duplicate(node.pidfd)};
  nodes_.insert_or_assign(name, std::move(node));
  return started;
}

NodeKeeper::Node& NodeKeeper::find(const std::string& name) {
  const auto node = nodes_.find(name);
  if (node == nodes_.end()) {
    throw CommandError("not_found",
                       "no node \"" + name + "\" was started on this host; `list` shows them");
  }
  return node->second;
}

NodeInfo NodeKeeper::end(const std::string& name, int signal, Deadline deadline) {
  const UniqueFd pidfd = tasks_.call(
      [&] {
        Node& node = find(name);
        if (!node.info.exit) send_signal(node.pidfd, signal);
        return duplicate(node.pidfd);
      },
      Deadline::never());
  if (!wait_readable(pidfd, deadline)) {
    send_signal(pidfd, SIGKILL);
    if (!wait_readable(pidfd, Deadline::after(kKillTimeout))) {
      throw CommandError("timeout", "stop " + name +
                                        ": it did not end after SIGKILL; it hangs in "
                                        "the kernel (see `cat /proc/PID/stack`)");
    }
  }
  return info(name);
}

std::vector<NodeInfo> NodeKeeper::end_all(Deadline deadline) {
  tasks_.call([this] { ending_ = true; }, Deadline::never());
  return stop_all(deadline);
}

std::vector<NodeInfo> NodeKeeper::stop_all(Deadline deadline) {
  const auto pidfds = tasks_.call(
      [&] {
        std::vector<UniqueFd> running;
        for (const auto& [name, node] : nodes_) {
          if (node.info.exit) continue;
          send_signal(node.pidfd, SIGTERM);
          running.push_back(duplicate(node.pidfd));
        }
        return running;
      },
      Deadline::never());
  for (const UniqueFd& pidfd : pidfds) wait_readable(pidfd, deadline);
  end_all_children(Deadline::after(kKillTimeout));
  return list();
}

// SIGKILL to everything that is left, until there is no child.
void NodeKeeper::end_all_children(Deadline deadline) {
  const auto kill_children = [this] {
    reap();
    std::vector<UniqueFd> left;
    for (const pid_t pid : child_processes()) {
      UniqueFd pidfd = open_pidfd(pid);
      send_signal(pidfd, SIGKILL);
      left.push_back(std::move(pidfd));
    }
    return left;
  };
  while (!deadline.passed()) {
    const auto left = tasks_.call(kill_children, Deadline::never());
    if (left.empty()) return;
    for (const UniqueFd& pidfd : left) wait_readable(pidfd, deadline);
  }
}

std::vector<NodeInfo> NodeKeeper::list() {
  return tasks_.call(
      [this] {
        reap();
        std::vector<NodeInfo> infos;
        for (const auto& [name, node] : nodes_) infos.push_back(node.info);
        return infos;
      },
      Deadline::never());
}

NodeInfo NodeKeeper::info(const std::string& name) {
  return tasks_.call(
      [&] {
        reap();
        return find(name).info;
      },
      Deadline::never());
}

void NodeKeeper::renew(double seconds) {
  const auto set_timer = [&] {
    if (lease_expired_) {
      throw CommandError("unavailable",
                         "renew: the lease has run out and this host's nodes are being ended");
    }
    itimerspec when{};
    double whole = 0;
    when.it_value.tv_nsec = static_cast<long>(std::modf(seconds, &whole) * 1e9);
    when.it_value.tv_sec = static_cast<std::time_t>(whole);
    if (::timerfd_settime(lease_timer_.get(), 0, &when, nullptr) != 0)
      throw errno_error("cannot set the lease timer");
  };
  tasks_.call(set_timer, Deadline::never());
}

double NodeKeeper::lease_remaining_s() {
  itimerspec left{};
  ::timerfd_gettime(lease_timer_.get(), &left);
  return static_cast<double>(left.it_value.tv_sec) +
         static_cast<double>(left.it_value.tv_nsec) * 1e-9;
}

}  // namespace turntable::node
