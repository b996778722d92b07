// Starts programs on a thread that stays: the kernel ends a child when the thread that forked it
// ends (PR_SET_PDEATHSIG).
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/deadline.h"
#include "common/task_queue.h"
#include "node/process.h"

namespace turntable::node {

struct NodeExit;

// A program that was started; thread-safe. It leads a session of its own, whose number is its pid;
// nobody else gets that number as long as the object lives.
class Child {
 public:
  explicit Child(Process process) : process_(std::move(process)) {}
  ~Child();  // SIGKILL
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return process_.pid; }
  int pidfd() const { return process_.pidfd.get(); }
  bool is_running() const { return !wait(Deadline::after_seconds(0)); }
  void send(int signal) const;
  // Whether it has ended until then.
  bool wait(Deadline deadline) const;
  // "exited with status 1", "was ended by signal 9 (Killed)"; empty while it runs.
  std::string end() const;
  // Nothing: it runs, or a signal ended it.
  std::optional<int> exit_status() const;

 private:
  std::optional<NodeExit> exit() const;

  Process process_;
};

class Children {
 public:
  Children();
  ~Children();  // ends them all
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  // Throws std::system_error that names the program.
  std::unique_ptr<Child> start(const ProcessSpec& spec);

 private:
  std::atomic<bool> stop_{false};
  TaskQueue tasks_;
  std::thread thread_;
};

// The file that a command's first word names, looked up in PATH; empty: there is none.
std::filesystem::path find_program(const std::string& name);

// What a program prints on its outputs, up to 64 KiB. Empty if it cannot be started, or has not
// ended until the deadline: then it is killed.
std::string output_of(Children& children, const std::vector<std::string>& command,
                      Deadline deadline);

}  // namespace turntable::node
