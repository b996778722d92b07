#include "bfrt_server/serve.h"

#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bfrt_server/listen_address.h"

namespace turntable::bfrt_server {
namespace {

constexpr int kMaxThreads = 256;
constexpr std::chrono::seconds kEndOfCalls{2};  // then they are cancelled

std::runtime_error cannot_listen(const Serving& serving) {
  const auto why = why_not_listening(serving.address, serving.port);
  return std::runtime_error(
      "cannot listen on " + serving.listen + ": " +
      (why ? *why + "; give it an address of this host and a --port that nothing else has, or 0: "
                    "any that is free"
           : "do the certificate and the key of TLS belong together?"));
}

}  // namespace

void silence_grpc() {
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
}

void serve(node::ControlServer& control, grpc::Service& service, const Serving& serving) {
  grpc::ResourceQuota quota;
  quota.SetMaxThreads(kMaxThreads);
  grpc::ServerBuilder builder;
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(serving.max_message_bytes);
  // A second server on the port is an error, not a share of its connections.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // A client whose host has gone is noticed, and what it had is free again.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  int port = 0;
  builder.AddListeningPort(serving.listen, serving.credentials, &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr || port == 0) throw cannot_listen(serving);
  control.on("stats", [&](const nlohmann::json&) {
    nlohmann::json stats = serving.stats();
    stats["address"] = serving.address;
    stats["port"] = port;
    return stats;
  });
  control.set_state("serving");
  control.run();
  serving.end_streams();
  server->Shutdown(std::chrono::system_clock::now() + kEndOfCalls);
}

}  // namespace turntable::bfrt_server
