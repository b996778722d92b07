// msgbench-client: a resident node that sends messages in an open loop and measures round trips
// (docs/homa.md §8).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "homa/nodes/arguments.h"
#include "homa/nodes/client_node.h"
#include "net/ipv4.h"
#include "node/control_server.h"

namespace turntable::homa {
namespace {

using Json = nlohmann::json;

int run(int argc, char** argv) {
  ProgramOptions app("msgbench-client",
                     "A node that sends messages in an open loop and measures round trips");
  std::string directory, address, name = "msgbench-client";
  std::uint16_t port = 0;
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--port", port, "Port: of UDP, or of TCP").required();
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  node::ControlServer control(directory, name);
  ClientNode node({.local = net::parse_ipv4("--address", address, port),
                   .queued = kQueuedDatagrams,
                   .datagram_bytes = kMaxDatagramBytes},
                  [&](std::string state) { control.set_state(std::move(state)); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("idle", [&](const Json& args) { return node.idle(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("wait", [&](const Json& args) { return node.wait(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.on_shutdown([&] { node.cancel(); });
  control.run();
  return 0;
}

}  // namespace
}  // namespace turntable::homa

int main(int argc, char** argv) {
  return turntable::run_main("msgbench-client", [&] { return turntable::homa::run(argc, argv); });
}
