// hlserver-node: a resident node that serves a store on a hybrid log (docs/shadowfax-nodes.md).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"
#include "shadowfax/server/server_node.h"

namespace {

using turntable::shadowfax::ServerNode;
using Json = nlohmann::json;

int run(int argc, char** argv) {
  turntable::ProgramOptions app("hlserver-node", "Serves a store on a hybrid log");
  std::string directory, address, secret, name = "hlserver-node";
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--secret", secret, turntable::net::kSecretHelp);
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  const auto credentials = turntable::shadowfax::credentials_of_node(secret, directory, name);
  turntable::node::ControlServer control(directory, name);
  ServerNode node(
      address, [&](std::string state) { control.set_state(std::move(state)); }, credentials);
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("migrate", [&](const Json& args) { return node.migrate(args); });
  control.on("device_reads", [&](const Json& args) { return node.device_reads(args); });
  control.on("sums", [&](const Json& args) { return node.sums(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.on_shutdown([&] { node.stop(Json::object()); });  // a migration may wait for its begin
  control.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlserver-node", [&] { return run(argc, argv); });
}
