// One logical server: a UDP port, a store and a worker thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "kv/request_handler.h"
#include "kv/server_worker.h"
#include "kv/store.h"
#include "kv/store_library.h"

namespace turntable::kv {

class LogicalServer {
 public:
  struct Settings {
    unsigned partition;
    unsigned scale;
    StoreProfile profile;
    sockaddr_in address;  // with the port
    double capacity_ops_per_s;
    std::size_t clients;  // of the run: that many requests can be outstanding
  };

  // Opens store and socket and begins to serve. Throws CommandError. `on_store_error` is called on
  // the worker's thread.
  LogicalServer(const Settings& settings, std::unique_ptr<StoreLibrary::WorkingCopy> copy,
                std::function<void(const std::string&)> on_store_error);
  ~LogicalServer();
  LogicalServer(const LogicalServer&) = delete;
  LogicalServer& operator=(const LogicalServer&) = delete;

  void set_window(std::int64_t from_monotonic_ns, std::int64_t until_monotonic_ns);

  // One element of `logical_servers` in the answer of `stats` (docs/architecture.md §5).
  nlohmann::json statistics() const;

 private:
  Settings settings_;
  std::unique_ptr<StoreLibrary::WorkingCopy> copy_;  // outlives the store in it
  Store store_;
  UniqueFd socket_;
  RequestHandler handler_;
  ServerWorker worker_;
  std::thread thread_;
};

}  // namespace turntable::kv
