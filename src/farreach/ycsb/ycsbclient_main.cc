// ycsbclient: a resident node that runs the released YCSB on its host (docs/from-ycsb.md).

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "farreach/ycsb/ycsb_node.h"
#include "node/control_server.h"

namespace {

using turntable::ycsb::YcsbNode;
using Json = nlohmann::json;

void serve(YcsbNode::Settings settings) {
  turntable::node::ControlServer control(settings.directory, settings.name);
  YcsbNode node(std::move(settings));
  control.on("load", [&](const Json& args) { return node.load(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("wait", [&](const Json& args) { return node.wait(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.on_shutdown([&] { node.cancel(); });
  control.run();
}

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

int run(int argc, char** argv) {
  turntable::ProgramOptions app(
      "ycsbclient", "Runs the released YCSB with the binding of src/farreach/ycsb, phase by phase");
  std::string directory, class_path, secret, name = "ycsbclient";
  app.option("--directory", directory, "Run directory: the control socket and outputs go here")
      .required();
  app.option("--class-path", class_path, "Of YCSB and its binding: see scripts/ycsb-binding")
      .required();
  app.option("--secret", secret, "File with the secret that all nodes of the run share");
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  serve({.directory = directory,
         .name = name,
         .class_path = class_path,
         .secret = secret.empty() ? "" : first_line(secret)});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("ycsbclient", [&] { return run(argc, argv); });
}
