#include "textstore/memcached_process.h"

#include <system_error>
#include <utility>

#include "textstore/started_store.h"

namespace turntable::textstore {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> command_of(const MemcachedSettings& settings) {
  std::vector<std::string> command = {installed_program("memcached", "memcached"),
                                      "-u",
                                      settings.user,
                                      "-t",
                                      std::to_string(settings.threads),
                                      "-c",
                                      std::to_string(settings.connections),
                                      "-m",
                                      std::to_string(settings.memory_mb)};
  if (settings.hash_power)
    command.insert(command.end(), {"-o", "hashpower=" + std::to_string(*settings.hash_power)});
  if (settings.requests_per_event)
    command.insert(command.end(), {"-R", std::to_string(*settings.requests_per_event)});
  if (settings.huge_pages) command.emplace_back("-L");
  const ServerAddress& server = settings.server;
  if (server.socket.empty()) {
    command.insert(command.end(),
                   {"-l", server.address, "-p", std::to_string(server.port), "-U", "0"});
  } else {
    command.insert(command.end(), {"-s", server.socket});
  }
  return command;
}

// Nothing else that may be at the path: this may run as root.
void remove_socket(const fs::path& path) {
  std::error_code none;
  if (fs::is_socket(path, none)) fs::remove(path, none);
}

}  // namespace

MemcachedProcess::MemcachedProcess(node::Children& children, MemcachedSettings settings,
                                   const fs::path& log)
    : settings_(std::move(settings)), command_(command_of(settings_)) {
  remove_socket(settings_.server.socket);  // of one killed
  child_ = start_store(children,
                       {.name = "memcached",
                        .command = command_,
                        .listens_at = settings_.server.text(),
                        .timeout_s = settings_.timeout_s},
                       log, [this](pid_t pid) { return answers(pid); });
}

MemcachedProcess::~MemcachedProcess() {
  child_.reset();  // SIGKILL: in order it would take a second, and it keeps nothing
  remove_socket(settings_.server.socket);
}

// Another memcached may have the port: the answer must be of this process.
bool MemcachedProcess::answers(pid_t pid) const {
  const auto statistics = this->statistics(Deadline::after_seconds(kProbeSeconds));
  const auto found = statistics.find("pid");
  return found != statistics.end() && found->second == std::to_string(pid);
}

Statistics MemcachedProcess::statistics(Deadline deadline) const {
  return memcached_statistics(settings_.server, deadline);
}

}  // namespace turntable::textstore
