// The commands of rpcserver (docs/netclone.md §5).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "netclone/server/server.h"

namespace turntable::netclone {

class ServerNode {
 public:
  using Json = nlohmann::json;

  // `datagrams`: of the address to serve at. `set_state` is told "idle" or "serving".
  ServerNode(const net::DatagramSettings& datagrams, std::function<void(std::string)> set_state);

  // Thread-safe. All throw CommandError.
  Json prepare(const Json& args);
  Json start(const Json& args);
  Json stats(const Json& args);
  Json stop(const Json& args);

 private:
  void require_serving(const char* command) const;

  const net::DatagramSettings datagrams_;
  const std::function<void(std::string)> set_state_;

  std::mutex mutex_;
  std::unique_ptr<Server> server_;
  std::string mode_;
  std::uint32_t workers_ = 0;
  std::int64_t window_ns_ = 0;
  Json calibration_;  // of the work; null where it takes none
};

}  // namespace turntable::netclone
