// hlmeta: the metadata service of a cluster of hlservers.

#include <csignal>
#include <iostream>
#include <string>
#include <thread>

#include "common/program_options.h"
#include "common/run_main.h"
#include "net/event_loop.h"
#include "net/ipv4.h"
#include "shadowfax/cluster/metadata_server.h"

namespace {

using namespace turntable;

int run(int argc, char** argv) {
  ProgramOptions app("hlmeta", "Knows which hlserver owns which keys");
  std::string address = "127.0.0.1", secret, file;
  std::uint16_t port = 22'700;
  shadowfax::ServerNumber owners = 1;
  app.option("--address", address, "IPv4 address").shows_default();
  app.option("--port", port, "TCP port; 0: any that is free").within(0, 65'535).shows_default();
  app.option("--file", file, "Where the state is kept").required();
  app.option("--secret", secret, "File with the secret of the cluster, mode 0600").required();
  app.option("--owners", owners, "Servers that own equal ranges at first, from number 0 on")
      .within(1, 100'000)
      .shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  net::EventLoop loop;
  const shadowfax::MetadataServer server(loop, net::parse_ipv4("--address", address, port),
                                         net::Credentials::from_file(secret, "hlmeta", "hlmeta"),
                                         file, owners);
  std::cout << "ready at port " << server.port() << std::endl;
  std::thread waits([&] {
    int signal = 0;
    sigwait(&ends, &signal);
    loop.stop();
  });
  loop.run();
  waits.join();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlmeta", [&] { return run(argc, argv); });
}
