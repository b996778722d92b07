#include "textstore/redis_process.h"

#include "textstore/started_store.h"

namespace turntable::textstore {

RedisProcess::RedisProcess(node::Children& children, const RedisSettings& settings,
                           const std::filesystem::path& log)
    : server_{.address = settings.address, .port = settings.port, .socket = {}},
      command_{installed_program("redis-server", "redis-server"), "--bind", settings.address,
               "--port", std::to_string(settings.port), "--protected-mode", "no",
               // Whoever reaches the port can do what a load needs, and nothing to this host.
               "--user", "default", "on", "nopass", "~*", "-@all", "+get", "+set", "+incr",
               "+incrby", "+info", "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir",
               log.parent_path(), "--loglevel", "warning"} {
  child_ = start_store(children,
                       {.name = "redis-server",
                        .command = command_,
                        .listens_at = server_.text(),
                        .timeout_s = settings.timeout_s},
                       log, [this](pid_t pid) { return answers(pid); });
}

// Another one may have the port: the answer must be of this process.
bool RedisProcess::answers(pid_t pid) const {
  const auto statistics = this->statistics(Deadline::after_seconds(kProbeSeconds));
  const auto found = statistics.find("process_id");
  return found != statistics.end() && found->second == std::to_string(pid);
}

}  // namespace turntable::textstore
