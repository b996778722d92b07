// The commands of msgbench-server (docs/homa.md §8).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "homa/nodes/message_server.h"
#include "net/datagrams.h"

namespace turntable::homa {

class ServerNode {
 public:
  using Json = nlohmann::json;

  ServerNode(net::DatagramSettings local, std::function<void(std::string)> set_state);

  // Thread-safe. All throw CommandError.
  Json prepare(const Json& args);
  Json start(const Json& args);
  Json stats(const Json& args);
  Json stop(const Json& args);

 private:
  void require_serving(const char* command) const;

  const net::DatagramSettings local_;
  const std::function<void(std::string)> set_state_;
  std::mutex mutex_;
  std::unique_ptr<MessageServer> server_;
};

}  // namespace turntable::homa
