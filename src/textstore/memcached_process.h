// Debian's memcached as a child.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/children.h"
#include "textstore/statistics.h"

namespace turntable::textstore {

struct MemcachedSettings {
  int threads = 1;
  int connections = 1024;
  int memory_mb = 256;
  std::optional<int> hash_power{};  // of its table's first size, 2^N; its own where nothing is said
  // Of a connection, before others have their turn: `-R`. Its own is 20.
  std::optional<int> requests_per_event{};
  bool huge_pages = false;
  ServerAddress server;
  std::string user = "root";
  // Each worker on a processor of its own, as far as there are: for who pins them.
  bool affinity = false;
  double timeout_s = 5;

  bool operator==(const MemcachedSettings&) const = default;
};

class MemcachedProcess {
 public:
  // Returns when it answers at its address. Its output goes to `log`. Throws CommandError that says
  // what to do.
  MemcachedProcess(node::Children& children, MemcachedSettings settings,
                   const std::filesystem::path& log);
  ~MemcachedProcess();  // ends it
  MemcachedProcess(const MemcachedProcess&) = delete;
  MemcachedProcess& operator=(const MemcachedProcess&) = delete;

  const MemcachedSettings& settings() const { return settings_; }
  const std::vector<std::string>& command() const { return command_; }
  pid_t pid() const { return child_->pid(); }
  bool is_running() { return child_->is_running(); }
  std::string end() { return child_->end(); }  // how it has ended

  // Name of its threads that serve connections.
  static constexpr const char* kWorker = "mc-worker";

  // Empty: it has ended, or does not answer until the deadline.
  Statistics statistics(Deadline deadline) const;

 private:
  bool answers(pid_t pid) const;

  const MemcachedSettings settings_;
  std::vector<std::string> command_;
  std::unique_ptr<node::Child> child_;
};

}  // namespace turntable::textstore
