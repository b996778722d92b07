// kvserver: a resident node that hosts logical servers (docs/architecture.md §5).

#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "farreach/kv/server_node.h"
#include "net/credentials.h"
#include "net/udp.h"
#include "node/control_server.h"

namespace {

using turntable::kv::ServerNode;
using turntable::net::Credentials;
using Json = nlohmann::json;

void serve(const std::string& directory, const std::string& name, const std::string& state_dir,
           const std::string& address, const std::string& secret) {
  const sockaddr_in local = turntable::net::parse_ipv4("--address", address, 0);
  std::optional<Credentials> credentials;
  if (!secret.empty()) credentials = Credentials::from_file(secret, directory, name);
  turntable::node::ControlServer control(directory, name);
  ServerNode node(local, state_dir, std::move(credentials),
                  [&](std::string state) { control.set_state(std::move(state)); });
  control.on("load", [&](const Json& args) { return node.load(args); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("snapshot_records", [&](const Json& args) { return node.snapshot_records(args); });
  control.on("stop", [&](const Json& args) { return node.stop(args); });
  control.on_shutdown([&] { node.cancel(); });
  control.run();
}

int run(int argc, char** argv) {
  turntable::ProgramOptions app("kvserver",
                                "Key-value server: logical servers with RocksDB stores behind UDP");
  std::string directory, state_dir, address, secret, name = "kvserver";
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--state-dir", state_dir, "Stores are kept in its subdirectory stores/").required();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--secret", secret, turntable::net::kSecretHelp);
  app.option("--name", name, "Name of the node").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  serve(directory, name, state_dir, address, secret);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("kvserver", [&] { return run(argc, argv); });
}
