// Helpers of the node tests: child programs, waiting for a condition.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/errno_error.h"
#include "common/scratch_directory.h"

namespace turntable::node::testing {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Neither gone nor a zombie.
inline bool is_running(pid_t pid) {
  const std::string stat = read_text("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.at(name_end + 2) != 'Z';
}

// Probes until `condition` holds; false when it does not within a generous time.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

struct Finished {
  int status = -1;  // exit status; 128 + signal number when ended by a signal
  std::string output;
  std::string errors;
};

// Runs a program with `input` on its standard input until it ends.
inline Finished run_program(const std::vector<std::string>& argv, const std::string& input = "") {
  const ScratchDirectory scratch;
  const auto file = [&](const char* name) { return (scratch.path() / name).native(); };
  std::ofstream(file("in"), std::ios::binary) << input;
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (const std::string& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const std::array<std::string, 3> files = {file("in"), file("out"), file("err")};
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(::open(files[0].c_str(), O_RDONLY), 0);
    ::dup2(::open(files[1].c_str(), O_WRONLY | O_CREAT, 0600), 1);
    ::dup2(::open(files[2].c_str(), O_WRONLY | O_CREAT, 0600), 2);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) throw errno_error("cannot run " + argv[0]);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(files[1]),
          read_text(files[2])};
}

}  // namespace turntable::node::testing
