// The commands of hlserver-node (docs/shadowfax-nodes.md).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "load/window_sampler.h"
#include "shadowfax/cluster/secret.h"
#include "shadowfax/server/store_server.h"

namespace turntable::shadowfax {

class ServerNode {
 public:
  using Json = nlohmann::json;

  // address: where workers listen. `set_state` is told "idle" or "serving". credentials: for
  // clients, other servers and metadata services; empty: it has none, and the address is one of
  // 127.0.0.0/8.
  ServerNode(std::string address, std::function<void(std::string)> set_state,
             CredentialsFor credentials = {});

  // Thread-safe. All throw CommandError.
  Json prepare(const Json& args);
  Json start(const Json& args);
  Json migrate(const Json& args);
  Json sums(const Json& args);
  Json device_reads(const Json& args);
  Json stats(const Json& args);
  Json stop(const Json& args);

 private:
  struct Sample {
    std::int64_t at_ns = 0;
    StoreServer::Readings workers;
    std::uint64_t device_reads = 0;
  };
  using WindowSampler = load::WindowSampler<Sample>;

  void require_serving(const char* command) const;
  ClusterMember& require_member(const char* command);
  void close();

  const std::string address_;
  const std::function<void(std::string)> set_state_;
  const CredentialsFor credentials_;

  std::mutex mutex_;
  std::optional<StoreServer> server_;
  std::uint64_t memory_bytes_ = 0;  // of its log
  std::size_t reader_threads_ = 0;
  std::optional<WindowSampler> sampler_;  // after the server: it reads it
};

}  // namespace turntable::shadowfax
