// What a gRPC server in front of softswitch is, whatever its service.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/control_server.h"

namespace turntable::bfrt_server {

struct Serving {
  std::string address;
  std::uint16_t port;  // 0: any that is free
  int max_message_bytes;
  std::function<nlohmann::json()> stats;  // the command; address and port are added
  std::function<void()> end_streams;      // so that calls end in time
};

// Until `shutdown` or a signal. Throws std::runtime_error where it cannot listen there
// (listen_address.h).
void serve(node::ControlServer& control, grpc::Service& service, const Serving& serving);

}  // namespace turntable::bfrt_server
