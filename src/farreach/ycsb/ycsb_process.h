// One phase of YCSB: a Java process whose output goes to a file. It ends with this object, and if
// this process is killed.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/deadline.h"
#include "node/process.h"

namespace turntable::ycsb {

class YcsbProcess {
 public:
  // Starts it; `log` is written anew. Throws CommandError that says what to do.
  YcsbProcess(std::vector<std::string> argv, const std::filesystem::path& log, std::string input);
  ~YcsbProcess();
  YcsbProcess(const YcsbProcess&) = delete;
  YcsbProcess& operator=(const YcsbProcess&) = delete;

  // Its exit status (128 + signal if one ended it), or nothing: it runs still at the deadline.
  // Thread-safe.
  std::optional<int> wait(Deadline deadline);
  // Ends it early. Thread-safe.
  void stop();

 private:
  void keep(const node::ProcessSpec& spec);
  void await_end();

  node::Process process_;  // of the keeper
  std::mutex mutex_;       // of what follows
  std::condition_variable changed_;
  bool started_ = false, stop_ = false;
  std::string error_;
  std::optional<int> status_;

  // The kernel ends the child when the thread that started it ends, so that one stays.
  std::thread keeper_;
};

}  // namespace turntable::ycsb
