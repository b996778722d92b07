// supervisor: owns the nodes of one host; docs/architecture.md §2.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "common/run_main.h"
#include "node/control_client.h"
#include "node/daemonize.h"
#include "node/supervisor.h"

namespace turntable::node {
namespace {

constexpr double kReadyDeadlineS = 10;

void run_in_background(const SupervisorOptions& options) {
  daemonize(options.directory / "supervisor.log", [&](const auto& ready) {
    Supervisor supervisor(options);
    ready();
    supervisor.run();
  });
  ControlClient::CallOptions probe;
  probe.deadline = Deadline::after_seconds(kReadyDeadlineS);
  ControlClient(options.directory, "supervisor").call("ping", nlohmann::json::object(), probe);
}

}  // namespace
}  // namespace turntable::node

namespace {

int run_program(int argc, char** argv) {
  using namespace turntable::node;
  SupervisorOptions options;
  bool in_background = false;
  CLI::App app("Starts, watches and ends the nodes of one host.");
  app.add_option("--directory", options.directory, "run directory; made if it does not exist")
      ->required();
  app.add_option("--testbed", options.identity.testbed, "id of the testbed")->required();
  app.add_option("--host", options.identity.host, "name of this host")->required();
  app.add_option("--lease", options.lease_s, "seconds without `renew` after which everything ends")
      ->required()
      ->check(CLI::PositiveNumber);
  app.add_flag("--daemonize", in_background, "return when the control socket answers");
  CLI11_PARSE(app, argc, argv);
  std::filesystem::create_directories(options.directory);
  options.directory = std::filesystem::canonical(options.directory);
  if (in_background) {
    run_in_background(options);
  } else {
    Supervisor(options).run();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("supervisor", [&] { return run_program(argc, argv); });
}
