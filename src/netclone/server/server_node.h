// The commands of rpcserver (docs/netclone.md §6).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "netclone/server/redis_executor.h"
#include "netclone/server/redis_process.h"
#include "netclone/server/server.h"

namespace turntable::netclone {

class ServerNode {
 public:
  using Json = nlohmann::json;

  struct Place {
    net::DatagramSettings datagrams;  // of the address to serve at
    std::filesystem::path directory;  // and
    std::string name;                 // of files that a redis-server of its own has
  };

  // `set_state` is told "idle" or "serving".
  ServerNode(Place place, std::function<void(std::string)> set_state);

  // Thread-safe. All throw CommandError.
  Json calibrate(const Json& args);
  Json prepare(const Json& args);
  Json start(const Json& args);
  Json stats(const Json& args);
  Json stop(const Json& args);

 private:
  void require_serving(const char* command) const;
  void close();
  void start_redis(std::uint32_t objects);
  std::unique_ptr<Server> redis_server(const ServerSettings& settings,
                                       std::unique_ptr<net::Datagrams> datagrams, bool dilated);

  const Place place_;
  const std::function<void(std::string)> set_state_;

  std::mutex mutex_;
  std::optional<RedisProcess> redis_;  // stays while it is prepared again
  std::uint32_t objects_ = 0;          // that it holds
  std::shared_ptr<RedisCounts> redis_counts_;
  std::unique_ptr<Server> server_;
  std::string mode_;
  std::uint32_t workers_ = 0;
  std::int64_t window_ns_ = 0;
  Json calibration_;  // of the work; null where it takes none
};

}  // namespace turntable::netclone
