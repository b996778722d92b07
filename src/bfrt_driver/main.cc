// bfrt-driver: softswitch's control protocol for a switch that speaks BF Runtime;
// docs/bfrt-driver.md.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bfrt_driver/driver_control.h"
#include "bfrt_driver/fresh_program.h"
#include "common/program_options.h"
#include "common/run_main.h"

namespace turntable::bfrt_driver {
namespace {

struct Options {
  std::filesystem::path directory;
  std::string name = "bfrt-driver";
  ConnectionOptions connection;
  std::filesystem::path schema;
  double start_deadline_s = 60;
  bool fresh = false;
  std::uint64_t client_id = 1;
  std::uint64_t device = 0;
  std::uint64_t pipe = 0;
};

nlohmann::json read_schema(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("--schema: cannot read " + path.native());
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error("--schema: " + path.native() + " is no bfrt.json: " + error.what());
  }
}

int run(Options options) {
  options.connection.client_id = static_cast<std::uint32_t>(options.client_id);
  options.connection.device_id = static_cast<std::uint32_t>(options.device);
  if (!options.schema.empty()) options.connection.expected = read_schema(options.schema);
  node::ControlServer server(options.directory, options.name);
  DigestQueue digests;
  SwitchConnection connection(options.connection,
                              [&](const SwitchSchema& schema, const bfrt_proto::DigestList& list) {
                                digests.take(schema, list);
                              });
  DriverControl control(connection, digests, options.pipe);
  control.serve(server);
  const Deadline start = Deadline::after_seconds(options.start_deadline_s);
  connection.bound(start);
  if (options.fresh) {
    SwitchCalls calls(connection, start);
    make_fresh(calls);
  }
  server.set_state("bound");
  server.run();
  return 0;
}

}  // namespace
}  // namespace turntable::bfrt_driver

namespace {

int run_program(int argc, char** argv) {
  using namespace turntable::bfrt_driver;
  Options options;
  turntable::ProgramOptions app("bfrt-driver",
                                "Controls a switch that speaks BF Runtime (gRPC) by the commands "
                                "of softswitch");
  app.option("--directory", options.directory, "Run directory for the control socket").required();
  app.option("--name", options.name, "Node name").shows_default();
  app.option("--switch", options.connection.address,
             "HOST:PORT of bf_switchd or bfrt-server; 50052 is usual. Only the control network's "
             "or loopback: whoever reaches that port owns the switch")
      .required();
  app.option("--program", options.connection.program, "Name of the program that it runs")
      .required();
  app.option("--schema", options.schema,
             "bfrt.json of that program as it was compiled; another one at the switch is refused");
  app.option("--client-id", options.client_id, "No other client of the switch has it")
      .within(0, 0x7FFFFFFF)
      .shows_default();
  app.option("--device", options.device, "Device id").within(0, 255).shows_default();
  app.option("--pipe", options.pipe,
             "Pipe of the experiment's ports (port / 128): registers are read there")
      .within(0, 3)
      .shows_default();
  app.option("--start-deadline", options.start_deadline_s,
             "Until when the switch must be there and free")
      .seconds()
      .shows_default();
  app.flag("--fresh", options.fresh,
           "Begin with a program in which nobody has written anything, as if the switch had just "
           "started; ports and queues stay as they are");
  app.option("--deadline", options.connection.call_deadline_s, "Of a command, in seconds")
      .seconds()
      .shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  return run(std::move(options));
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("bfrt-driver", [&] { return run_program(argc, argv); });
}
