#include "swan/memcached_process.h"

#include <poll.h>
#include <sys/un.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "common/command_error.h"
#include "node/arguments.h"
#include "node/log_tail.h"
#include "swan/cgroup_tree.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kReadyProbeMs = 2;
constexpr double kProbeSeconds = 1;
constexpr const char* kWorker = "mc-worker";  // name of its threads that serve connections

std::vector<std::string> command_of(const MemcachedSettings& settings) {
  const fs::path program = find_program("memcached");
  if (program.empty()) {
    throw CommandError("unavailable",
                       "memcached is not in PATH; expected Debian's package memcached: `make "
                       "setup` or playbooks/provision.yml installs it");
  }
  std::vector<std::string> command = {program,
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

ServerAddress server_of(const node::Arguments& arguments, const Json& json) {
  if (json.contains("socket") && !json["socket"].is_null()) {
    const std::string socket = arguments.text("socket");
    constexpr std::size_t kMost = sizeof(sockaddr_un::sun_path) - 1;
    if (!socket.starts_with('/') || socket.size() > kMost) {
      arguments.fail("socket", socket,
                     "an absolute path of at most " + std::to_string(kMost) + " characters");
    }
    return {.address = {}, .port = 0, .socket = socket};
  }
  return {.address = arguments.text("address"),
          .port = static_cast<std::uint16_t>(arguments.integer_or("port", 1, 65'535, 11'211)),
          .socket = {}};
}

}  // namespace

MemcachedSettings memcached_settings(const std::string& where, const Json& json) {
  const node::Arguments arguments(where + ", memcached", json,
                                  {"threads", "connections", "memory_mb", "hash_power", "address",
                                   "port", "socket", "user", "affinity", "fresh", "timeout_s"});
  MemcachedSettings settings;
  settings.threads = static_cast<int>(arguments.integer_or("threads", 1, 1024, 1));
  settings.connections = static_cast<int>(arguments.integer_or("connections", 1, 1 << 20, 1024));
  settings.memory_mb = static_cast<int>(arguments.integer_or("memory_mb", 1, 1 << 24, 256));
  if (json.contains("hash_power"))
    settings.hash_power = static_cast<int>(arguments.integer("hash_power", 12, 32));
  settings.server = server_of(arguments, json);
  settings.user = arguments.text_or("user", settings.user);
  if (json.contains("affinity")) settings.affinity = arguments.boolean("affinity");
  if (json.contains("timeout_s")) settings.timeout_s = arguments.number("timeout_s", 0.1, 600);
  return settings;
}

MemcachedProcess::MemcachedProcess(Children& children, MemcachedSettings settings,
                                   const fs::path& log)
    : settings_(std::move(settings)), command_(command_of(settings_)) {
  remove_socket(settings_.server.socket);  // of one killed
  const std::uint64_t log_begin = node::log_size(log);
  try {
    child_ = children.start({.argv = command_, .environment = {}, .log_file = log, .input = {}});
  } catch (const std::system_error& error) {
    throw CommandError("unavailable", std::string("memcached: ") + error.what());
  }
  wait_until_ready(log, log_begin);
}

MemcachedProcess::~MemcachedProcess() {
  child_.reset();  // SIGKILL: in order it would take a second, and it keeps nothing
  remove_socket(settings_.server.socket);
}

// Another memcached may have the port: the answer must be of this process.
bool MemcachedProcess::answers() const {
  const auto statistics = this->statistics(Deadline::after_seconds(kProbeSeconds));
  const auto pid = statistics.find("pid");
  return pid != statistics.end() && pid->second == std::to_string(this->pid());
}

void MemcachedProcess::wait_until_ready(const fs::path& log, std::uint64_t log_begin) {
  const Deadline deadline = Deadline::after_seconds(settings_.timeout_s);
  while (!answers()) {
    const bool ended = child_->wait(Deadline::after(std::chrono::milliseconds(kReadyProbeMs)));
    if (!ended && !deadline.passed()) continue;
    throw CommandError("unavailable",
                       "memcached " +
                           (ended ? child_->end() : std::string("did not answer in time")) +
                           ": expected it to listen at " + settings_.server.text() + " within " +
                           Json(settings_.timeout_s).dump() +
                           " s; is the address this host's, and free? Its log " + log.native() +
                           " ends with\n" + node::log_tail(log, log_begin));
  }
}

void MemcachedProcess::apply(const ProcessSettings& settings) {
  swan::apply(settings, pid());
  if (!settings_.affinity || settings.cpus.empty()) return;
  std::size_t worker = 0;
  for (const pid_t thread : threads_of(pid())) {
    const std::string name = read_control("/proc/" + std::to_string(pid()) + "/task/" +
                                          std::to_string(thread) + "/comm");
    if (name == kWorker) pin(thread, {settings.cpus[worker++ % settings.cpus.size()]});
  }
}

MemcachedStatistics MemcachedProcess::statistics(Deadline deadline) const {
  MemcachedClient client = MemcachedClient::connect(settings_.server, deadline);
  return client ? client.statistics(deadline) : MemcachedStatistics();
}

}  // namespace turntable::swan
