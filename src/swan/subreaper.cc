#include "swan/subreaper.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace turntable::swan {
namespace {

constexpr int kNotExecuted = 127;  // as shells have it

sigset_t awaited() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM}) ::sigaddset(&signals, signal);
  return signals;
}

[[noreturn]] void execute(std::vector<std::string> words, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotExecuted);  // it ended before the line above
  const sigset_t signals = awaited();
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  std::fprintf(stderr, "colocator: cannot execute %s: %s\n", argv[0], std::strerror(errno));
  ::_exit(kNotExecuted);
}

// The exit status of this process; does not return after a signal.
int end_as(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const rlimit no_core{0, 0};  // the command has left its own
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int signal = WTERMSIG(status);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(signal);
  return EXIT_FAILURE;
}

}  // namespace

std::vector<std::string> under_subreaper(const std::filesystem::path& program,
                                         const std::vector<std::string>& command) {
  std::vector<std::string> words = {program, "subreap"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

int subreap(const std::vector<std::string>& command) {
  if (command.empty()) return EXIT_FAILURE;
  const sigset_t signals = awaited();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) execute(command, self);
  if (child < 0) {
    std::fprintf(stderr, "colocator: cannot fork for %s: %s\n", command.front().c_str(),
                 std::strerror(errno));
    return EXIT_FAILURE;
  }
  while (true) {
    int signal = 0;
    ::sigwait(&signals, &signal);
    if (signal == SIGINT) ::kill(child, SIGINT);
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;)
      if (ended == child) return end_as(status);
  }
}

}  // namespace turntable::swan
