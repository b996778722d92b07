// The commands of msgbench-client (docs/homa.md §8).
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "homa/nodes/message_client.h"
#include "load/client_life.h"
#include "net/datagrams.h"

namespace turntable::homa {

class ClientNode {
 public:
  using Json = nlohmann::json;

  // local: where it binds.
  ClientNode(net::DatagramSettings local, std::function<void(std::string)> set_state);
  ~ClientNode();

  // Thread-safe. All throw CommandError. The statistics of an iteration stay until the next
  // `prepare`, also if `stop` ended it early.
  Json prepare(const Json& args);
  Json idle(const Json& args);
  Json start(const Json& args) { return life_.start(args); }
  Json wait(const Json& args) { return life_.wait(args); }
  Json stats(const Json& args);
  Json stop(const Json& args) { return life_.stop(args); }

  // Ends whatever runs or waits. Thread-safe; for the end of the process.
  void cancel() { life_.cancel(); }

 private:
  const net::DatagramSettings local_;
  IdleRoundTrips measured_idle_;  // by the last `idle`
  std::unique_ptr<MessageClient> client_;
  load::ClientLife life_;  // last: its thread uses the other
};

}  // namespace turntable::homa
