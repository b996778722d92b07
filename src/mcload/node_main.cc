// mcload-node: a resident node that offers a memcached an open load (docs/mcload.md).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "mcload/node.h"
#include "node/control_server.h"

namespace {

using turntable::mcload::McloadNode;
using Json = nlohmann::json;

int run(int argc, char** argv) {
  turntable::ProgramOptions app("mcload-node", "Offers a memcached an open load");
  std::string directory, name = "mcload-node";
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  turntable::node::ControlServer control(directory, name);
  McloadNode node([&](std::string state) { control.set_state(std::move(state)); });
  control.on("populate", [&](const Json& args) { return node.populate(args); });
  control.on("tune", [&](const Json& args) { return node.tune(args); });
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
  return turntable::run_main("mcload-node", [&] { return run(argc, argv); });
}
