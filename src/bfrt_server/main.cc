// bfrt-server: BF Runtime's service beside softswitch; docs/bfrt.md.
#include <nlohmann/json.hpp>
#include <optional>

#include "bfrt_server/listen_address.h"
#include "bfrt_server/serve.h"
#include "bfrt_server/service.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"

namespace turntable::bfrt_server {
namespace {

constexpr int kMaxMessageBytes = 64 << 20;

struct Options {
  std::filesystem::path directory;
  std::string name = "bfrt-server";
  std::string address = "127.0.0.1";
  std::uint16_t port = 50052;
  SwitchOptions of_switch;
};

// Runs until `shutdown` or a signal. Returns the exit status.
int run(const Options& options) {
  silence_grpc();
  node::ControlServer control(options.directory, options.name);
  const std::string listen = listen_address(options.address, options.port);
  Service service(options.of_switch);
  serve(control, service,
        {.address = options.address,
         .port = options.port,
         .listen = listen,
         .max_message_bytes = kMaxMessageBytes,
         .stats = [&] { return service.stats(); },
         .end_streams =
             [&] {
               service.end_streams({grpc::StatusCode::UNAVAILABLE, "bfrt-server ends"});
             }});
  return 0;
}

}  // namespace
}  // namespace turntable::bfrt_server

namespace {

int run_program(int argc, char** argv) {
  using namespace turntable::bfrt_server;
  Options options;
  std::string ports = "added";
  std::string pipes = "2";
  std::filesystem::path port_map;
  turntable::ProgramOptions app("bfrt-server", "BF Runtime's service in front of softswitch");
  app.option("--directory", options.directory, "Run directory for the control socket").required();
  app.option("--name", options.name, "Node name").shows_default();
  app.option("--switch", options.of_switch.name, "Node name of softswitch, in the same directory")
      .shows_default();
  app.option("--address", options.address,
             "Where to listen: loopback, or the control network. There is no authentication")
      .shows_default();
  app.option("--port", options.port, "TCP port; 0: any that is free").shows_default();
  app.option("--pipes", pipes,
             "Pipes that clients see where softswitch has one state for all of them")
      .one_of({"1", "2", "4"})
      .shows_default();
  app.option("--ports", ports,
             "Whether softswitch's ports are added and enabled at the start, as on a model, or "
             "clients add them, as on an ASIC")
      .one_of({"added", "absent"})
      .shows_default();
  const auto map =
      app.option("--port-map", port_map, "JSON object of front-panel places: {\"1/0\": 132, ...}");
  if (const auto status = app.parse(argc, argv)) return *status;
  options.of_switch.directory = options.directory;
  options.of_switch.pipes = static_cast<std::uint32_t>(std::stoul(pipes));
  options.of_switch.ports = ports == "added" ? Ports::Begin::kAdded : Ports::Begin::kAbsent;
  if (map.given()) options.of_switch.port_map = PortMap::read(port_map);
  return run(options);
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("bfrt-server", [&] { return run_program(argc, argv); });
}
