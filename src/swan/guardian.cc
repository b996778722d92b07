#include "swan/guardian.h"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>

#include "common/command_error.h"
#include "common/deadline.h"
#include "common/errno_error.h"
#include "swan/cgroup_tree.h"
#include "swan/control_groups.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;

constexpr double kRemoveSeconds = 30;
constexpr const char* kGroup = "--group";

// What is left; empty: nothing.
std::string remove_directory(const std::string& directory) {
  if (::rmdir(directory.c_str()) == 0 || errno == ENOENT) return {};
  return directory + " cannot be removed: " + std::strerror(errno);
}

// "TEXT FILE", as Guardian::undo_with() says it.
void write_line(const std::string& line) {
  const std::size_t space = line.find(' ');
  try {
    write_control(line.substr(space + 1), line.substr(0, space));
  } catch (const CommandError& error) {  // no failure: others may have groups that use it by now
    std::fprintf(stderr, "colocator's guardian: %s\n", error.what());
  }
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 4096> chunk{};
  while (true) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

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
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw errno_error("cannot create a pair of sockets");
  const UniqueFd reader(ends[0]);
  link_.reset(ends[1]);
  std::vector<std::string> words = {program, "guard"};
  words.insert(words.end(), directories.begin(), directories.end());
  for (const fs::path& group : groups) words.insert(words.end(), {kGroup, group});
  pid_ = spawn(words, reader.get());
}

Guardian::~Guardian() {
  link_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Guardian::undo_with(const fs::path& control, const std::string& text) {
  const std::string line = text + " " + control.native() + "\n";
  const ssize_t sent = ::send(link_.get(), line.data(), line.size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(line.size())) return;
  throw CommandError("unavailable", "the guardian, which is to undo changes of " +
                                        control.native() + ", cannot be told of one: " +
                                        std::strerror(errno) + "; start colocator again");
}

int guard(const std::vector<std::string>& arguments) {
  const std::string told = read_to_end(STDIN_FILENO);
  bool is_whole = true;
  const auto report = [&](const std::string& left) {
    if (left.empty()) return;
    std::fprintf(stderr, "colocator's guardian: %s\n", left.c_str());
    is_whole = false;
  };
  const Deadline deadline = Deadline::after_seconds(kRemoveSeconds);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    report(arguments[i] == kGroup ? destroy_group(arguments[++i], deadline)
                                  : remove_directory(arguments[i]));
  std::istringstream lines(told);
  for (std::string line; std::getline(lines, line);) write_line(line);
  return is_whole ? 0 : 1;
}

}  // namespace turntable::swan
