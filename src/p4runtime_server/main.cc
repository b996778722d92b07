// p4runtime-server: P4Runtime's service beside softswitch; docs/p4runtime.md.
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bfrt_server/listen_address.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"
#include "p4runtime_server/service.h"

namespace turntable::p4runtime_server {
namespace {

constexpr int kMaxMessageBytes = 16 << 20;
constexpr int kMaxThreads = 256;
constexpr std::chrono::seconds kEndOfCalls{2};  // then they are cancelled

struct Options {
  std::filesystem::path directory;
  std::string name = "p4runtime-server";
  std::string address = "127.0.0.1";
  std::uint16_t port = 9559;
  std::string switch_name = "softswitch";
};

// Runs until `shutdown` or a signal. Returns the exit status.
int run(const Options& options) {
  node::ControlServer control(options.directory, options.name);
  const std::string address = bfrt_server::listen_address(options.address, options.port);
  Service service({options.directory, options.switch_name});
  grpc::ResourceQuota quota;
  quota.SetMaxThreads(kMaxThreads);
  grpc::ServerBuilder builder;
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // A second server on the port is an error, not a share of its connections.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // A client whose host has gone is noticed, and is no primary any more.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr || port == 0)
    throw std::runtime_error("cannot listen on " + address + "; is the port taken?");
  control.on("stats", [&](const nlohmann::json&) {
    nlohmann::json stats = service.stats();
    stats["address"] = options.address;
    stats["port"] = port;
    return stats;
  });
  control.set_state("serving");
  control.run();
  service.end_streams({grpc::StatusCode::UNAVAILABLE, "p4runtime-server ends"});
  server->Shutdown(std::chrono::system_clock::now() + kEndOfCalls);
  return 0;
}

int run_program(int argc, char** argv) {
  Options options;
  ProgramOptions app("p4runtime-server", "P4Runtime's service in front of softswitch");
  app.option("--directory", options.directory, "Run directory for the control socket").required();
  app.option("--name", options.name, "Node name").shows_default();
  app.option("--switch", options.switch_name, "Node name of softswitch, in the same directory")
      .shows_default();
  app.option("--address", options.address,
             "Where to listen: loopback, or the control network. There is no authentication")
      .shows_default();
  app.option("--port", options.port, "TCP port; 0: any that is free").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  return run(options);
}

}  // namespace
}  // namespace turntable::p4runtime_server

int main(int argc, char** argv) {
  return turntable::run_main("p4runtime-server",
                             [&] { return turntable::p4runtime_server::run_program(argc, argv); });
}
