// hlload-node: a resident node whose threads are clients of hybrid-log stores
// (docs/shadowfax-nodes.md).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"
#include "shadowfax/client/load_node.h"

namespace {

using turntable::shadowfax::LoadNode;
using Json = nlohmann::json;

int run(int argc, char** argv) {
  turntable::ProgramOptions app("hlload-node", "Clients of hybrid-log stores");
  std::string directory, secret, name = "hlload-node";
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--secret", secret, turntable::net::kSecretHelp);
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  const auto credentials = turntable::shadowfax::credentials_of_node(secret, directory, name);
  turntable::node::ControlServer control(directory, name);
  LoadNode node([&](std::string state) { control.set_state(std::move(state)); }, credentials);
  control.on("fill", [&](const Json& args) { return node.fill(args); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("wait", [&](const Json& args) { return node.wait(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.on_shutdown([&] { node.cancel(); });
  control.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlload-node", [&] { return run(argc, argv); });
}
