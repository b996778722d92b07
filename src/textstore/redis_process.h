// Debian's redis-server as a child, on a TCP port, with nothing in it at first and no file on a
// disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "node/children.h"
#include "textstore/statistics.h"

namespace turntable::textstore {

struct RedisSettings {
  std::string address;  // IPv4
  std::uint16_t port = 6379;
  double timeout_s = 10;
};

class RedisProcess {
 public:
  // Returns when it answers at its address. Its output goes to `log`. Throws CommandError that says
  // what to do.
  RedisProcess(node::Children& children, const RedisSettings& settings,
               const std::filesystem::path& log);
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  const std::vector<std::string>& command() const { return command_; }
  pid_t pid() const { return child_->pid(); }
  bool is_running() const { return child_->is_running(); }
  std::string end() const { return child_->end(); }  // how it has ended

  // Empty: it has ended, or does not answer until the deadline.
  Statistics statistics(Deadline deadline) const { return redis_statistics(server_, deadline); }

 private:
  bool answers(pid_t pid) const;

  const ServerAddress server_;
  std::vector<std::string> command_;
  std::unique_ptr<node::Child> child_;  // ends with it
};

}  // namespace turntable::textstore
