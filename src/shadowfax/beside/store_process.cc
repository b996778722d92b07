#include "shadowfax/beside/store_process.h"

#include <sched.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "common/command_error.h"

namespace turntable::shadowfax {
namespace {

namespace fs = std::filesystem;

constexpr double kStatisticsSeconds = 5;
constexpr int kConnections = 16'384;

fs::path tasks_of(pid_t pid) {
  return fs::path("/proc") / std::to_string(pid) / "task";
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(tasks_of(pid), gone))
    threads.push_back(std::atoi(entry.path().filename().c_str()));
  return threads;
}

std::string name_of(pid_t pid, pid_t thread) {
  std::string name;
  std::getline(std::ifstream(tasks_of(pid) / std::to_string(thread) / "comm"), name);
  return name;
}

void pin(pid_t pid, const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  for (const pid_t thread : threads_of(pid)) {
    if (::sched_setaffinity(thread, sizeof set, &set) == 0 || errno == ESRCH) continue;
    throw CommandError("unsupported",
                       std::string("the store cannot run on the given processors: ") +
                           std::strerror(errno) + "; expected some that this machine has");
  }
}

std::string found(const textstore::Statistics& statistics, const char* name) {
  const auto at = statistics.find(name);
  return at == statistics.end() ? std::string() : at->second;
}

}  // namespace

StoreProcess::StoreProcess(node::Children& children, const Settings& settings, const fs::path& log)
    : settings_(settings) {
  if (settings.protocol == Protocol::kMemcached) {
    textstore::MemcachedSettings memcached;
    memcached.threads = settings.threads;
    memcached.connections = kConnections;
    memcached.memory_mb = settings.memory_mb;
    memcached.hash_power = settings.hash_power;
    memcached.requests_per_event = settings.requests_per_event;
    memcached.huge_pages = true;
    memcached.server = {.address = settings.address, .port = settings.port, .socket = {}};
    process_ = std::make_unique<textstore::MemcachedProcess>(children, memcached, log);
  } else {
    process_ = std::make_unique<textstore::RedisProcess>(
        children, textstore::RedisSettings{.address = settings.address, .port = settings.port},
        log);
  }
  pin(pid(), settings.cpus);
}

Servers StoreProcess::servers() const {
  return {.given = {{.address = settings_.address, .ports = {settings_.port}}},
          .protocol = settings_.protocol};
}

const std::vector<std::string>& StoreProcess::command() const {
  return std::visit(
      [](const auto& process) -> auto& { return process->command(); }, process_);
}

pid_t StoreProcess::pid() const {
  return std::visit([](const auto& process) { return process->pid(); }, process_);
}

std::string StoreProcess::version() const {
  const char* const name = std::holds_alternative<Redis>(process_) ? "redis_version" : "version";
  return std::visit(
      [&](const auto& process) {
        return found(process->statistics(Deadline::after_seconds(kStatisticsSeconds)), name);
      },
      process_);
}

std::vector<pid_t> StoreProcess::workers() const {
  if (std::holds_alternative<Redis>(process_)) return {pid()};
  std::vector<pid_t> workers;
  for (const pid_t thread : threads_of(pid())) {
    if (name_of(pid(), thread) == textstore::MemcachedProcess::kWorker) workers.push_back(thread);
  }
  return workers;
}

std::string StoreProcess::end() {
  return std::visit([](const auto& process) { return process->end(); }, process_);
}

}  // namespace turntable::shadowfax
