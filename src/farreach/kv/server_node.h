// The commands of kvserver (docs/architecture.md §5).
#pragma once

#include <netinet/in.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "farreach/kv/logical_server.h"
#include "farreach/kv/store_library.h"

namespace turntable::kv {

class ServerNode {
 public:
  using Json = nlohmann::json;

  // `set_state` is told "idle", "serving" or "degraded" (serving, but a store has failed); it may
  // be called on any thread. Without credentials `prepare` takes no controller.
  ServerNode(const sockaddr_in& address, const std::filesystem::path& state_dir,
             std::optional<net::Credentials> credentials,
             std::function<void(std::string)> set_state);
  ~ServerNode();

  // Thread-safe. All throw CommandError.
  Json load(const Json& args);
  Json prepare(const Json& args);
  Json start(const Json& args);
  Json stats(const Json& args);
  Json snapshot_records(const Json& args);
  Json stop(const Json& args);

  // Ends a load in progress. Thread-safe.
  void cancel() { library_.cancel(); }

 private:
  void close_servers();
  void link_servers();
  void store_failed(unsigned partition, const std::string& message);
  void require_serving(const char* command) const;

  const sockaddr_in address_;
  const std::optional<net::Credentials> credentials_;
  const std::function<void(std::string)> set_state_;

  std::mutex library_mutex_;  // before servers_mutex_; held through load, prepare and stop
  StoreLibrary library_;

  std::mutex servers_mutex_;
  std::optional<ControllerLink> link_;  // outlives the workers, which wake it
  std::vector<std::unique_ptr<LogicalServer>> servers_;
  std::int64_t window_ns_ = 0;

  std::mutex error_mutex_;  // innermost
  std::string last_store_error_;
};

}  // namespace turntable::kv
