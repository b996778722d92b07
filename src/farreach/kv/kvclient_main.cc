// kvclient: a resident node that hosts the logical clients of one machine (docs/architecture.md
// §5).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "farreach/kv/client_node.h"
#include "net/credentials.h"
#include "net/udp.h"
#include "node/control_server.h"

namespace {

using turntable::kv::ClientNode;
using turntable::net::Credentials;
using turntable::net::DatagramSettings;
using Json = nlohmann::json;

void serve(const std::string& directory, const std::string& name, const DatagramSettings& datagrams,
           const std::string& secret) {
  std::optional<Credentials> credentials;
  if (!secret.empty()) credentials = Credentials::from_file(secret, directory, name);
  turntable::node::ControlServer control(directory, name);
  ClientNode node(datagrams, std::move(credentials),
                  [&](std::string state) { control.set_state(std::move(state)); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("wait", [&](const Json& args) { return node.wait(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("popularity", [&](const Json& args) { return node.popularity(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.on_shutdown([&] { node.cancel(); });
  control.run();
}

int run(int argc, char** argv) {
  turntable::ProgramOptions app(
      "kvclient", "Key-value client: logical clients that replay seeded traces in a closed loop");
  std::string directory, address, interface, secret, kind = "sockets", name = "kvclient";
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--datagrams", kind, turntable::net::kDatagramsHelp).shows_default();
  app.option("--interface", interface, turntable::net::kInterfaceHelp);
  app.option("--secret", secret, turntable::net::kSecretHelp);
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  const DatagramSettings datagrams{.kind = turntable::net::datagram_kind(kind, interface),
                                   .interface = interface,
                                   .local = turntable::net::parse_ipv4("--address", address, 0)};
  serve(directory, name, datagrams, secret);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("kvclient", [&] { return run(argc, argv); });
}
