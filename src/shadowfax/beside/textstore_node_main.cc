// textstore-node: a resident node that serves memcached or Redis beside Shadowfax
// (docs/shadowfax-nodes.md).

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"
#include "shadowfax/beside/textstore_node.h"

namespace {

using turntable::shadowfax::TextstoreNode;
using Json = nlohmann::json;

int run(int argc, char** argv) {
  turntable::ProgramOptions app("textstore-node", "Serves Debian's memcached or Redis");
  std::string directory, address, name = "textstore-node";
  app.option("--directory", directory, "Run directory: the control socket and logs go here")
      .required();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  turntable::node::ControlServer control(directory, name);
  TextstoreNode node(address, std::filesystem::absolute(directory),
                     [&](std::string state) { control.set_state(std::move(state)); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("sums", [&](const Json& args) { return node.sums(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("textstore-node", [&] { return run(argc, argv); });
}
