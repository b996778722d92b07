// The commands of rpcclient (docs/netclone.md §6).
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "load/client_life.h"
#include "load/open_loop_thread.h"
#include "netclone/client/codec.h"
#include "netclone/client/plan.h"

namespace turntable::netclone {

using ClientThread = load::OpenLoopThread<Codec>;

class ClientNode {
 public:
  using Json = nlohmann::json;

  struct Settings {
    std::string name;
    std::string directory;       // for files of latencies
    net::DatagramSettings base;  // of the first client; the others have the ports behind
  };

  ClientNode(Settings settings, std::function<void(std::string)> set_state);
  ~ClientNode();

  // Thread-safe. All throw CommandError. The statistics of an iteration stay until the next
  // `prepare`, also if `stop` ended it early.
  Json prepare(const Json& args);
  Json start(const Json& args) { return life_.start(args); }
  Json wait(const Json& args) { return life_.wait(args); }
  Json stats(const Json& args);
  Json replay(const Json& args);
  Json stop(const Json& args) { return life_.stop(args); }

  // Ends whatever runs or waits. Thread-safe; for the end of the process.
  void cancel() { life_.cancel(); }

 private:
  class Client;

  std::unique_ptr<Client> open(std::size_t index) const;
  Json prepared_answer() const;
  CreditDelays credit_delays() const;  // of all clients
  Json latency_files() const;

  const Settings settings_;
  std::optional<Plan> plan_;
  PathDelay path_;
  std::vector<std::unique_ptr<Client>> clients_;
  load::ClientLife life_;  // last: its threads use the others
};

}  // namespace turntable::netclone
