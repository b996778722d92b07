// msgbench-server: a resident node that sends every message back (docs/homa.md §8).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "homa/nodes/arguments.h"
#include "homa/nodes/server_node.h"
#include "net/ipv4.h"
#include "node/control_server.h"

namespace turntable::homa {
namespace {

using Json = nlohmann::json;

int run(int argc, char** argv) {
  ProgramOptions app("msgbench-server", "A node that sends every message back");
  std::string directory, address, name = "msgbench-server";
  std::uint16_t port = 0;
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--port", port, "Port: of UDP, or of TCP").required();
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  node::ControlServer control(directory, name);
  ServerNode node({.local = net::parse_ipv4("--address", address, port),
                   .queued = kQueuedDatagrams,
                   .datagram_bytes = kMaxDatagramBytes},
                  [&](std::string state) { control.set_state(std::move(state)); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.run();
  return 0;
}

}  // namespace
}  // namespace turntable::homa

int main(int argc, char** argv) {
  return turntable::run_main("msgbench-server", [&] { return turntable::homa::run(argc, argv); });
}
