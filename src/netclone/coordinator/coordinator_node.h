// The commands of laedge-coordinator (docs/netclone.md §6).
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <thread>

#include "net/datagrams.h"
#include "netclone/coordinator/coordinator_thread.h"

namespace turntable::netclone {

class CoordinatorNode {
 public:
  using Json = nlohmann::json;

  explicit CoordinatorNode(const net::DatagramSettings& datagrams) : datagrams_(datagrams) {}
  ~CoordinatorNode() { end(); }

  // Thread-safe. All throw CommandError.
  Json prepare(const Json& args);  // serves from then on
  Json start(const Json& args);
  Json stats(const Json& args);
  Json stop(const Json& args);

 private:
  void require_serving(const char* command) const;
  void end();

  const net::DatagramSettings datagrams_;
  std::mutex mutex_;
  std::unique_ptr<CoordinatorThread> coordinator_;
  std::thread thread_;
  std::int64_t window_ns_ = 0;
};

}  // namespace turntable::netclone
