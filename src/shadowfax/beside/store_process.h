// Debian's memcached or redis-server as the store that is measured.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "node/children.h"
#include "shadowfax/client/load_settings.h"
#include "textstore/memcached_process.h"
#include "textstore/redis_process.h"

namespace turntable::shadowfax {

class StoreProcess {
 public:
  struct Settings {
    Protocol protocol = Protocol::kMemcached;
    std::string address;  // IPv4
    std::uint16_t port = 0;
    std::vector<int> cpus{};  // that its threads run on; empty: any
    // memcached's alone: Redis serves by one thread, and takes what memory it needs.
    int threads = 1;
    int memory_mb = 64;
    int hash_power = 16;          // its table has room for 2^N keys, and needs not grow
    int requests_per_event = 20;  // of a connection, before others have their turn
  };

  // Returns when it answers. Its output goes to `log`. Throws CommandError.
  StoreProcess(node::Children& children, const Settings& settings,
               const std::filesystem::path& log);

  Servers servers() const;
  const std::vector<std::string>& command() const;
  pid_t pid() const;
  // Empty: it does not answer.
  std::string version() const;
  // Threads that serve connections.
  std::vector<pid_t> workers() const;
  // How it has ended; empty while it runs.
  std::string end();

 private:
  using Memcached = std::unique_ptr<textstore::MemcachedProcess>;
  using Redis = std::unique_ptr<textstore::RedisProcess>;

  const Settings settings_;
  std::variant<Memcached, Redis> process_;
};

}  // namespace turntable::shadowfax
