// The supervisor's commands (docs/architecture.md §2): spawn, list, stop, renew, shutdown.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "node/control_server.h"
#include "node/node_keeper.h"

namespace turntable::node {

struct SupervisorOptions {
  std::filesystem::path directory;  // absolute; has to exist
  HostIdentity identity;
  double lease_s = 0;  // > 0
};

class Supervisor {
 public:
  // Listens on <directory>/supervisor.sock. Throws when another supervisor lives there. Create it
  // before any thread.
  explicit Supervisor(SupervisorOptions options);

  // Until `shutdown`, SIGTERM, SIGINT or the end of the lease. All nodes have ended when it
  // returns.
  void run();

 private:
  using Json = nlohmann::json;

  Json spawn(const Json& args);
  Json stop(const Json& args);
  Json renew(const Json& args);
  Json list();
  Json end_nodes(double deadline_s);
  Json wait_until_ready(NodeKeeper::Started started, double deadline_s);

  SupervisorOptions options_;
  ControlServer server_;
  NodeKeeper keeper_;
};

}  // namespace turntable::node
