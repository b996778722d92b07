// Debian's memcached as a child: the high-priority job.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "swan/children.h"
#include "swan/memcached_client.h"
#include "swan/process_settings.h"

namespace turntable::swan {

struct MemcachedSettings {
  int threads = 1;
  int connections = 1024;
  int memory_mb = 256;
  std::optional<int> hash_power;  // of its table's first size, 2^N; its own where nothing is said
  ServerAddress server;
  std::string user = "root";
  bool affinity = false;  // each worker on a processor of its own, as far as there are
  double timeout_s = 5;

  bool operator==(const MemcachedSettings&) const = default;
};

// Of a command's argument: {"threads", "connections", "memory_mb", ["hash_power"], "address",
// "port" | "socket",
// ["user"], ["affinity"], ["fresh"], ["timeout_s"]}. Throws CommandError.
MemcachedSettings memcached_settings(const std::string& where, const nlohmann::json& json);

class MemcachedProcess {
 public:
  // Returns when it answers at its address. Its output goes to `log`. Throws CommandError that says
  // what to do.
  MemcachedProcess(Children& children, MemcachedSettings settings,
                   const std::filesystem::path& log);
  ~MemcachedProcess();  // ends it
  MemcachedProcess(const MemcachedProcess&) = delete;
  MemcachedProcess& operator=(const MemcachedProcess&) = delete;

  const MemcachedSettings& settings() const { return settings_; }
  const std::vector<std::string>& command() const { return command_; }
  pid_t pid() const { return child_->pid(); }
  bool is_running() { return child_->is_running(); }
  std::string end() { return child_->end(); }  // how it has ended

  // Applies them to all of its threads, and pins workers one by one if that was asked for.
  void apply(const ProcessSettings& settings);

  // Empty: it has ended, or does not answer until the deadline.
  MemcachedStatistics statistics(Deadline deadline) const;

 private:
  void wait_until_ready(const std::filesystem::path& log, std::uint64_t log_begin);
  bool answers() const;

  const MemcachedSettings settings_;
  std::vector<std::string> command_;
  std::unique_ptr<Child> child_;
};

}  // namespace turntable::swan
