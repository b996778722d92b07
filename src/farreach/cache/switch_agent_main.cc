// switch-agent: a resident node that owns the slots of the switch's cache (docs/kvcache.md §7).
#include <nlohmann/json.hpp>
#include <thread>

#include "common/program_options.h"
#include "common/run_main.h"
#include "farreach/cache/agent_node.h"
#include "farreach/cache/soft_driver.h"
#include "net/ipv4.h"
#include "node/control_server.h"

namespace {

using namespace turntable;
using Json = nlohmann::json;

struct Options {
  std::string directory, name = "switch-agent", switch_name = "softswitch", cpu_interface, address,
                         secret;
  std::uint16_t port = 0;
};

void serve(const Options& options) {
  node::ControlServer control(options.directory, options.name);
  auto credentials = net::Credentials::from_file(options.secret, options.directory, options.name);
  net::EventLoop loop;
  auto driver = std::make_unique<cache::SoftDriver>(loop, options.directory, options.switch_name,
                                                    options.cpu_interface);
  cache::AgentNode agent(
      loop, std::move(driver), net::parse_ipv4("--address", options.address, options.port),
      std::move(credentials), [&](std::string state) { control.set_state(std::move(state)); });
  control.on("configure", [&](const Json& args) { return agent.configure(args); });
  control.on("settings", [&](const Json& args) { return agent.settings(args); });
  control.on("cached_set", [&](const Json& args) { return agent.cached_set(args); });
  control.on("stats", [&](const Json& args) { return agent.stats(args); });
  control.on("stop", [&](const Json& args) { return agent.stop(args); });
  control.on_shutdown([&] { loop.stop(); });
  std::jthread worker([&] { loop.run(); });
  control.run();
}

int run(int argc, char** argv) {
  turntable::ProgramOptions app("switch-agent",
                                "Control plane of the switch's cache: admits, evicts and clears");
  Options options;
  app.option("--directory", options.directory,
             "Run directory: the control socket goes here, and the switch's is here")
      .required();
  app.option("--cpu-interface", options.cpu_interface,
             "The control plane's end of the switch's CPU port")
      .required();
  app.option("--address", options.address, "IPv4 address to listen on for the cache-controller")
      .required();
  app.option("--port", options.port, "TCP port to listen on").required();
  app.option("--secret", options.secret, net::kSecretHelp).required();
  app.option("--switch", options.switch_name, "Name of the switch's node").shows_default();
  app.option("--name", options.name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  serve(options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("switch-agent", [&] { return run(argc, argv); });
}
