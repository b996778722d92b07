// hlmeta-node: a resident node with the metadata service of a cluster (docs/shadowfax-nodes.md).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"
#include "shadowfax/cluster/metadata_node.h"

namespace {

using turntable::shadowfax::MetadataNode;
using Json = nlohmann::json;

int run(int argc, char** argv) {
  turntable::ProgramOptions app("hlmeta-node", "Knows which hlserver owns which keys");
  std::string directory, address, secret, name = "hlmeta-node";
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--secret", secret, turntable::net::kSecretHelp).required();
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  const auto credentials = turntable::shadowfax::credentials_of_node(secret, directory, name);
  turntable::node::ControlServer control(directory, name);
  MetadataNode node(address, credentials,
                    [&](std::string state) { control.set_state(std::move(state)); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlmeta-node", [&] { return run(argc, argv); });
}
