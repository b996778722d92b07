// p4runtime-server: P4Runtime's service beside softswitch; docs/p4runtime.md.
#include <nlohmann/json.hpp>

#include "bfrt_server/listen_address.h"
#include "bfrt_server/serve.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"
#include "p4runtime_server/service.h"

namespace turntable::p4runtime_server {
namespace {

constexpr int kMaxMessageBytes = 16 << 20;

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
  const std::string listen = bfrt_server::listen_address(options.address, options.port);
  Service service({options.directory, options.switch_name});
  bfrt_server::serve(
      control, service,
      {.address = options.address,
       .listen = listen,
       .max_message_bytes = kMaxMessageBytes,
       .stats = [&] { return service.stats(); },
       .end_streams =
           [&] {
             service.end_streams({grpc::StatusCode::UNAVAILABLE, "p4runtime-server ends"});
           }});
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
