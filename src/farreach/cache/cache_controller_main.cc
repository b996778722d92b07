// cache-controller: a resident node beside the first server that decides what the switch caches
// (docs/kvcache.md §7).
#include <nlohmann/json.hpp>
#include <thread>

#include "common/program_options.h"
#include "common/run_main.h"
#include "farreach/cache/controller_node.h"
#include "net/ipv4.h"
#include "node/control_server.h"

namespace {

using namespace turntable;
using Json = nlohmann::json;

void serve(const std::string& directory, const std::string& name, const std::string& address,
           std::uint16_t port, const std::string& secret) {
  node::ControlServer control(directory, name);
  auto credentials = net::Credentials::from_file(secret, directory, name);
  net::EventLoop loop;
  cache::ControllerNode controller(loop, net::parse_ipv4("--address", address, port),
                                   std::move(credentials),
                                   std::filesystem::path(directory) / "state",
                                   [&](std::string state) { control.set_state(std::move(state)); });
  control.on("configure", [&](const Json& args) { return controller.configure(args); });
  control.on("warm_up", [&](const Json& args) { return controller.warm_up(args); });
  control.on("settings", [&](const Json& args) { return controller.settings(args); });
  control.on("snapshot", [&](const Json& args) { return controller.snapshot(args); });
  control.on("readmit", [&](const Json& args) { return controller.readmit(args); });
  control.on("recover", [&](const Json& args) { return controller.recover(args); });
  control.on("cached_set", [&](const Json& args) { return controller.cached_set(args); });
  control.on("stats", [&](const Json& args) { return controller.stats(args); });
  control.on("stop", [&](const Json& args) { return controller.stop(args); });
  control.on_shutdown([&] { loop.stop(); });
  std::jthread worker([&] { loop.run(); });
  control.run();
}

int run(int argc, char** argv) {
  turntable::ProgramOptions app(
      "cache-controller",
      "Decides what the switch caches; relays between servers and switch-agent");
  std::string directory, address, secret, name = "cache-controller";
  std::uint16_t port = 0;
  app.option("--directory", directory,
             "Run directory: the control socket goes here, snapshots into its state/")
      .required();
  app.option("--address", address, "IPv4 address to listen on for the servers").required();
  app.option("--port", port, "TCP port to listen on").required();
  app.option("--secret", secret, net::kSecretHelp).required();
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  serve(directory, name, address, port, secret);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("cache-controller", [&] { return run(argc, argv); });
}
