// laedge-coordinator: a resident node that clones requests on a processor, as LAEDGE does
// (docs/netclone.md §5).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "net/udp.h"
#include "netclone/coordinator/coordinator_node.h"
#include "node/control_server.h"

namespace {

using turntable::netclone::CoordinatorNode;
using Json = nlohmann::json;

int run(int argc, char** argv) {
  turntable::ProgramOptions app("laedge-coordinator",
                                "Sends requests to one or two idle servers, and queues others");
  std::string directory, address, interface, datagrams = "sockets", name = "laedge-coordinator";
  std::uint16_t port = turntable::netclone::kCoordinatorPort;
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--port", port, "UDP port").shows_default();
  app.option("--datagrams", datagrams, turntable::net::kDatagramsHelp).shows_default();
  app.option("--interface", interface, turntable::net::kInterfaceHelp);
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  turntable::net::DatagramSettings settings;
  settings.kind = turntable::net::datagram_kind(datagrams, interface);
  settings.interface = interface;
  settings.local = turntable::net::parse_ipv4("--address", address, port);
  turntable::node::ControlServer control(directory, name);
  CoordinatorNode node(settings);
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("laedge-coordinator", [&] { return run(argc, argv); });
}
