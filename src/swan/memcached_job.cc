#include "swan/memcached_job.h"

#include <sys/un.h>

#include <nlohmann/json.hpp>

#include "node/arguments.h"
#include "swan/cgroup_tree.h"

namespace turntable::swan {
namespace {

using Json = nlohmann::json;
using textstore::MemcachedSettings;
using textstore::ServerAddress;

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

void apply(const textstore::MemcachedProcess& memcached, const ProcessSettings& settings) {
  const pid_t pid = memcached.pid();
  apply(settings, pid);
  if (!memcached.settings().affinity || settings.cpus.empty()) return;
  std::size_t worker = 0;
  for (const pid_t thread : threads_of(pid)) {
    const std::string name =
        read_control("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/comm");
    if (name == textstore::MemcachedProcess::kWorker)
      pin(thread, {settings.cpus[worker++ % settings.cpus.size()]});
  }
}

}  // namespace turntable::swan
