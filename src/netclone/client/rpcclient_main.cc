// rpcclient: a resident node that hosts logical clients of one machine, each an open loop with a
// thread and a socket of its own (docs/netclone.md §6).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "net/udp.h"
#include "netclone/client/client_node.h"
#include "node/control_server.h"

namespace {

using turntable::netclone::ClientNode;
using Json = nlohmann::json;

void serve(const ClientNode::Settings& settings) {
  turntable::node::ControlServer control(settings.directory, settings.name);
  ClientNode node(settings, [&](std::string state) { control.set_state(std::move(state)); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("wait", [&](const Json& args) { return node.wait(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("replay", [&](const Json& args) { return node.replay(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.on_shutdown([&] { node.cancel(); });
  control.run();
}

int run(int argc, char** argv) {
  turntable::ProgramOptions app("rpcclient",
                                "RPC client: logical clients that send in an open loop");
  std::string directory, address, interface, datagrams = "sockets", name = "rpcclient";
  std::uint16_t port = 0;
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--port", port, "UDP port of the first client; the others have those behind")
      .shows_default();
  app.option("--datagrams", datagrams, turntable::net::kDatagramsHelp).shows_default();
  app.option("--interface", interface, turntable::net::kInterfaceHelp);
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  ClientNode::Settings settings{.name = name, .directory = directory, .base = {}};
  settings.base.kind = turntable::net::datagram_kind(datagrams, interface);
  settings.base.interface = interface;
  settings.base.local = turntable::net::parse_ipv4("--address", address, port);
  serve(settings);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("rpcclient", [&] { return run(argc, argv); });
}
