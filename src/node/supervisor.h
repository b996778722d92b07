// The supervisor's commands (docs/architecture.md §2): spawn, list, stop, stop_all, renew,
// host_stats, timeline, events, shutdown.
#pragma once

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "node/control_server.h"
#include "node/host_lock.h"
#include "node/node_keeper.h"
#include "node/timeline.h"

namespace turntable::node {

// NOLINTNEXTLINE(bugprone-exception-escape): JSON's null throws nothing
struct SupervisorOptions {
  std::filesystem::path directory;  // absolute; has to exist
  HostIdentity identity;
  double lease_s = 0;    // > 0
  nlohmann::json owner;  // an object that says whose run it is, or null
};

class Supervisor {
 public:
  // Ends what an earlier supervisor of the directory left behind, then listens on
  // <directory>/supervisor.sock. `lock` is the directory's. Create it before any thread.
  Supervisor(SupervisorOptions options, HostLock lock);

  // Until `shutdown`, SIGTERM, SIGINT or the end of the lease. All nodes have ended when it
  // returns.
  void run();

 private:
  using Json = nlohmann::json;

  Json ping() const;
  Json shutdown(const Json& args);
  Json spawn(const Json& args);
  Json stop(const Json& args);
  Json renew(const Json& args);
  Json list();
  void ask(const Timeline::Request& request);
  Json wait_until_ready(NodeKeeper::Started started, double deadline_s);

  SupervisorOptions options_;
  HostLock lock_;
  std::int64_t held_since_ns_;  // CLOCK_BOOTTIME
  std::atomic<std::int64_t> renewals_{0};
  ControlServer server_;
  mutable NodeKeeper keeper_;
  Timeline timeline_;  // ends before the nodes that it asks
};

}  // namespace turntable::node
