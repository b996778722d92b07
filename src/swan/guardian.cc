#include "swan/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <string>

#include "common/deadline.h"
#include "common/errno_error.h"
#include "swan/control_groups.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;

constexpr double kRemoveSeconds = 30;
constexpr const char* kGroup = "--group";

// Own session and default signals, and nothing of the environment.
pid_t spawn(std::vector<std::string>& words, int input) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<char*, 1> no_environment = {nullptr};
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, argv[0], &files, &attributes, argv.data(), no_environment.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw errno_error("cannot start the guardian " + words[0], error);
  return pid;
}

}  // namespace

Guardian::Guardian(const fs::path& program, const std::vector<fs::path>& groups,
                   const std::vector<fs::path>& directories) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw errno_error("cannot create a pipe");
  const UniqueFd reader(ends[0]);
  pipe_.reset(ends[1]);
  std::vector<std::string> words = {program, "guard"};
  for (const fs::path& group : groups) words.insert(words.end(), {kGroup, group});
  words.insert(words.end(), directories.begin(), directories.end());
  pid_ = spawn(words, reader.get());
}

Guardian::~Guardian() {
  pipe_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

int guard(const std::vector<std::string>& arguments) {
  char ignored = 0;
  ssize_t got = 0;
  do {  // nothing is ever written
    got = ::read(STDIN_FILENO, &ignored, 1);
  } while (got > 0 || (got < 0 && errno == EINTR));
  int status = 0;
  const Deadline deadline = Deadline::after_seconds(kRemoveSeconds);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] != kGroup) {
      ::rmdir(arguments[i].c_str());
      continue;
    }
    const std::string left = destroy_group(arguments[++i], deadline);
    if (left.empty()) continue;
    std::fprintf(stderr, "colocator's guardian: %s\n", left.c_str());
    status = 1;
  }
  return status;
}

}  // namespace turntable::swan
