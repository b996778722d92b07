// One logical server: a UDP port, a store and a worker thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <thread>

#include "farreach/kv/cached_keys.h"
#include "farreach/kv/controller_link.h"
#include "farreach/kv/method.h"
#include "farreach/kv/record_store.h"
#include "farreach/kv/request_handler.h"
#include "farreach/kv/server_worker.h"
#include "farreach/kv/store.h"
#include "farreach/kv/store_library.h"
#include "farreach/kv/value_updates.h"
#include "net/udp.h"

namespace turntable::kv {

class LogicalServer {
 public:
  struct Settings {
    Method method;
    unsigned partition;
    unsigned scale;
    StoreProfile profile;
    sockaddr_in address;  // with the port
    double capacity_ops_per_s;
    std::size_t clients;                 // of the run: that many requests can be outstanding
    bool large_values;                   // whether there can be any
    std::int64_t value_update_delay_ns;  // NetCache
    bool is_controlled = false;          // by a cache-controller
  };

  // Opens store and socket and begins to serve. Throws CommandError. `on_store_error`, and `wake`
  // when there is something for the controller, are called on the worker's thread.
  LogicalServer(const Settings& settings, std::unique_ptr<StoreLibrary::WorkingCopy> copy,
                std::function<void(const std::string&)> on_store_error, std::function<void()> wake);
  ~LogicalServer();
  LogicalServer(const LogicalServer&) = delete;
  LogicalServer& operator=(const LogicalServer&) = delete;

  void set_window(std::int64_t from_monotonic_ns, std::int64_t until_monotonic_ns);

  // Whether the store stays on disk when this object ends; a fresh one does not.
  void leave_store() { copy_->leave(); }
  void own_store() { copy_->own(); }

  // What the controller works on; only of a method with numbers.
  ControllerLink::Server controlled();

  // One element of `logical_servers` in the answer of `stats` (docs/architecture.md §5).
  nlohmann::json statistics() const;

 private:
  std::unique_ptr<RequestHandler> make_handler(RequestHandler::StoreErrors on_store_error,
                                               std::function<void()> wake);

  Settings settings_;
  std::unique_ptr<StoreLibrary::WorkingCopy> copy_;  // outlives the store in it
  Store store_;
  net::SplitSockets sockets_;  // the second one for NetCache's acknowledgements
  // What the method needs.
  std::optional<RecordStore> records_;
  std::optional<CachedKeys> keys_;
  std::optional<ValueUpdates> updates_;
  std::unique_ptr<RequestHandler> handler_;
  ServerWorker worker_;
  std::thread thread_;
};

}  // namespace turntable::kv
