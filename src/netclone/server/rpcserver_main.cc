// rpcserver: a resident node that is one logical server (docs/netclone.md §6).
//
//   calibrate {"objects", "gets", "scans"}             -> service times of an idle redis-server
//   prepare {"server", "mode", "workers", "seed", "dilation", "service", "jitter", "drop_clones",
//            "redis": {"objects", "timing"}}           mode: slots, spin or redis
//   start   {"measure_from_ns", "measure_until_ns"}    CLOCK_REALTIME
//   stats
//   stop                                               answers nothing more
#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "net/udp.h"
#include "netclone/server/server_node.h"
#include "node/control_server.h"

namespace turntable::netclone {
namespace {

using Json = nlohmann::json;

// Of a burst; more than any queue is expected to hold.
constexpr std::size_t kQueuedRequests = 4096;

struct Options {
  std::string directory, address, interface, datagrams = "sockets", name = "rpcserver";
  std::uint16_t port = 0;
};

void serve(const Options& options) {
  const net::DatagramSettings datagrams{
      .kind = net::datagram_kind(options.datagrams, options.interface),
      .interface = options.interface,
      .local = net::parse_ipv4("--address", options.address, options.port),
      .queued = kQueuedRequests,
      .datagram_bytes = kPacketBytes};
  node::ControlServer control(options.directory, options.name);
  ServerNode node({datagrams, options.directory, options.name},
                  [&](std::string state) { control.set_state(std::move(state)); });
  control.on("calibrate", [&](const Json& args) { return node.calibrate(args); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.run();
}

int run(int argc, char** argv) {
  ProgramOptions app("rpcserver", "A logical server whose workers take as long as was drawn");
  Options options;
  app.option("--directory", options.directory, "Run directory: the control socket goes here")
      .required();
  app.option("--name", options.name, "Name of the node").shows_default();
  app.option("--address", options.address, "IPv4 address of the data network").required();
  app.option("--port", options.port, "UDP port").required();
  app.option("--datagrams", options.datagrams, net::kDatagramsHelp).shows_default();
  app.option("--interface", options.interface, net::kInterfaceHelp);
  if (const auto status = app.parse(argc, argv)) return *status;
  serve(options);
  return 0;
}

}  // namespace
}  // namespace turntable::netclone

int main(int argc, char** argv) {
  return turntable::run_main("rpcserver", [&] { return turntable::netclone::run(argc, argv); });
}
