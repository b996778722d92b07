// p4runtime-server: P4Runtime's service beside softswitch; docs/p4runtime.md.
#include <nlohmann/json.hpp>
#include <optional>

#include "bfrt_server/listen_address.h"
#include "bfrt_server/serve.h"
#include "bfrt_server/tls.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"
#include "p4runtime_server/registered_programs.h"
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
  std::string cpu_interface;
  std::filesystem::path programs;
  SourceCompilerOptions compiler;
  bfrt_server::TlsFiles tls;
};

// Runs until `shutdown` or a signal. Returns the exit status.
int run(const Options& options) {
  bfrt_server::silence_grpc();
  node::ControlServer control(options.directory, options.name);
  const std::string listen = bfrt_server::listen_address(options.address, options.port);
  bfrt_server::check_who_may_reach(options.address, options.tls);
  if (!options.programs.empty()) check_program_directory(options.programs);
  const auto credentials = bfrt_server::server_credentials(options.tls);
  Service service(
      {options.directory, options.switch_name},
      options.cpu_interface.empty() ? std::nullopt : std::optional(options.cpu_interface),
      options.programs,
      {options.compiler.translator, options.directory / (options.name + ".programs"),
       options.compiler.deadline_s});
  bfrt_server::serve(control, service,
                     {.address = options.address,
                      .port = options.port,
                      .listen = listen,
                      .max_message_bytes = kMaxMessageBytes,
                      .stats = [&] { return service.stats(); },
                      .end_streams = [&] { service.end(); },
                      .credentials = credentials});
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
             "Where to listen: loopback or, with --tls-…, the control network")
      .shows_default();
  app.option("--port", options.port, "TCP port; 0: any that is free").shows_default();
  app.option("--cpu-interface", options.cpu_interface,
             "Interface at the other end of the switch's CPU port, for packet-in and packet-out");
  app.option("--programs", options.programs,
             "Directory of programs that clients may set: NAME.so and NAME.p4info.txtpb");
  app.option("--translator", options.compiler.translator,
             "Path of p4soft: clients may set programs as P4 source. Default: they may not");
  app.option("--translator-deadline-s", options.compiler.deadline_s,
             "Seconds in which such a program is compiled")
      .seconds()
      .shows_default();
  app.option("--tls-certificate", options.tls.certificate, "PEM file: the server's certificate");
  app.option("--tls-key", options.tls.key, "PEM file: its key");
  app.option("--tls-client-ca", options.tls.client_ca,
             "PEM file: the authority whose clients are let in; the others are not");
  if (const auto status = app.parse(argc, argv)) return *status;
  return run(options);
}

}  // namespace
}  // namespace turntable::p4runtime_server

int main(int argc, char** argv) {
  return turntable::run_main("p4runtime-server",
                             [&] { return turntable::p4runtime_server::run_program(argc, argv); });
}
