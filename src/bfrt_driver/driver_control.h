// The control commands of bfrt-driver: softswitch's own, carried out at a switch that speaks BF
// Runtime, so that what controls one controls the other (docs/bfrt-driver.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bfrt_driver/counts_since.h"
#include "bfrt_driver/digest_queue.h"
#include "bfrt_driver/switch_calls.h"
#include "node/control_server.h"

namespace turntable::bfrt_driver {

class DriverControl {
 public:
  // `digests` are those of the connection. `pipe` is that of the experiment's ports; registers are
  // read there.
  DriverControl(SwitchConnection& connection, DigestQueue& digests, std::size_t pipe);

  // Registers the commands; this object has to outlive server.run().
  void serve(node::ControlServer& server);

 private:
  using Json = nlohmann::json;

  Json digest_read(const Json& args, Deadline deadline);
  Json digest_wait(const Json& args);
  Json info(SwitchCalls& calls) const;
  static Json settings(const Json& args);

  SwitchConnection& connection_;
  DigestQueue& digests_;
  const std::size_t pipe_;
  CountsSince since_;
};

}  // namespace turntable::bfrt_driver
