// What a gRPC server in front of softswitch is, whatever its service.
#pragma once

#include <grpcpp/impl/service_type.h>
#include <grpcpp/security/server_credentials.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/control_server.h"

namespace turntable::bfrt_server {

struct Serving {
  std::string address;
  std::uint16_t port;
  std::string listen;  // listen_address() of both
  int max_message_bytes;
  std::function<nlohmann::json()> stats;  // the command; address and port are added
  std::function<void()> end_streams;      // so that calls end in time
  std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
};

// gRPC prints no lines of its own, which the servers' messages make superfluous; they come back
// with GRPC_VERBOSITY in the environment. To be called before anything of gRPC.
void silence_grpc();

// Until `shutdown` or a signal. Throws std::runtime_error where it cannot listen there.
void serve(node::ControlServer& control, grpc::Service& service, const Serving& serving);

}  // namespace turntable::bfrt_server
