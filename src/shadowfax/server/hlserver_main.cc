// hlserver: a store on a hybrid log, served over TCP by workers that have a port each.

#include <atomic>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>

#include "common/program_options.h"
#include "common/run_main.h"
#include "net/ipv4.h"
#include "shadowfax/cluster/secret.h"
#include "shadowfax/server/store_server.h"

namespace {

using namespace turntable;

int run(int argc, char** argv) {
  ProgramOptions app("hlserver", "Serves a store on a hybrid log");
  shadowfax::StoreServer::Settings settings;
  unsigned index_bits = 20, log_mb = 1024;
  std::uint64_t compact_above_mb = 0;
  double spin_us = 50, checkpoint_s = 2, capacity_per_s = 0;
  std::string checkpoint, metadata, secret, stop_at, range_check = "view";
  shadowfax::ClusterSettings cluster;
  std::atomic<bool> has_stopped{false};
  bool no_uring = false;
  settings.worker.port = shadowfax::kBasePort;
  app.option("--address", settings.worker.address, "IPv4 address").shows_default();
  app.option("--base-port", settings.worker.port, "Port of the first worker; 0: any that are free")
      .within(0, 65'535)
      .shows_default();
  app.option("--threads", settings.workers, "Workers").within(1, 1024).shows_default();
  app.option("--index-bits", index_bits, "2^N buckets of 64 bytes").within(0, 40).shows_default();
  app.option("--log-mb", log_mb, "Of the log in memory").within(1, 1e7).shows_default();
  app.option("--page-bits", settings.store.log.page_bits, "Pages of 2^N bytes")
      .within(12, 30)
      .shows_default();
  app.option("--mutable-share", settings.store.log.mutable_share, "Of the log in memory")
      .within(0.01, 1)
      .shows_default();
  app.option("--file", settings.file, "Where the log goes that has no room in memory").required();
  app.option("--checkpoint", checkpoint,
             "File of the newest checkpoint: they are made, and one that is there is recovered");
  app.option("--checkpoint-s", checkpoint_s, "From one to the next")
      .within(0.001, 1e6)
      .shows_default();
  app.option("--compact-above-mb", compact_above_mb,
             "The log is compacted when it takes more of the file; 0: never")
      .within(0, 1e9)
      .shows_default();
  app.option("--spin-us", spin_us, "Looked for work before waiting for it")
      .within(0, 1e9)
      .shows_default();
  app.option("--capacity", capacity_per_s,
             "Operations per second at most, a service time each; 0: as many as it can")
      .within(0, 1e9);
  app.option("--reads-under-way", settings.store.reader_threads, "Of the log's file, at once")
      .within(1, 1024)
      .shows_default();
  app.flag("--no-uring", no_uring, "A thread waits for each read, even where there is an io_uring");
  app.option("--range-check", range_check,
             "Judged by: view (a comparison per batch), or beside it lock or splits")
      .one_of({"view", "lock", "splits"})
      .shows_default();
  app.option("--splits", settings.range_check.splits, "Ranges that every key is looked up in")
      .within(1, 1 << 20)
      .shows_default();
  app.option("--metadata", metadata, "HOST:PORT of hlmeta: it is a server of a cluster");
  app.option("--number", cluster.number, "Of this server in the cluster").within(0, 100'000);
  app.option("--secret", secret,
             "File with the secret that clients and other servers prove, mode 0600; without one it "
             "serves this machine alone (--address in 127.0.0.0/8)");
  app.option("--peer-port", cluster.peer_port, "For other servers; 0: any that is free")
      .within(0, 65'535);
  app.option("--stop-at", stop_at, "Step of a migration at which the process stops itself (tests)");
  if (const auto status = app.parse(argc, argv)) return *status;
  settings.worker.capacity_per_s = capacity_per_s / settings.workers;
  settings.worker.spin = std::chrono::nanoseconds(static_cast<std::int64_t>(spin_us * 1e3));
  settings.store.index_buckets = std::size_t{1} << index_bits;
  settings.store.log.pages = (std::size_t{log_mb} << 20U) >> settings.store.log.page_bits;
  settings.store.threads = 0;  // beside the workers
  settings.store.uses_uring = !no_uring;
  settings.range_check.kind = shadowfax::range_check_of(range_check).value();
  if (compact_above_mb > 0) settings.compact_above_bytes = compact_above_mb << 20U;
  if (!checkpoint.empty()) {
    settings.checkpoints = {
        .file = checkpoint,
        .interval = std::chrono::nanoseconds(static_cast<std::int64_t>(checkpoint_s * 1e9))};
  }
  const shadowfax::CredentialsFor credentials =
      shadowfax::credentials_of_node(secret, "hlserver", "server");
  if (credentials) settings.worker.secret = credentials("batches").secret();
  if (!metadata.empty()) {
    if (!credentials)
      throw std::invalid_argument("--metadata " + metadata + ": expected --secret FILE beside it");
    cluster.metadata = net::parse_endpoint("--metadata", metadata);
    cluster.credentials = credentials;
    cluster.at_step = [&](const char* step) {
      if (step == stop_at && !has_stopped.exchange(true)) std::raise(SIGSTOP);
    };
    settings.cluster = cluster;
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const shadowfax::StoreServer server(settings);
  if (!settings.worker.secret) {
    std::cerr << "hlserver: no --secret: any program of this machine can open sessions, and no "
                 "other one"
              << std::endl;
  }
  if (const std::string& why = server.recovered().why_not_index; !why.empty())
    std::cerr << "hlserver: the whole log was read: " << why << std::endl;
  std::cout << "ready";
  for (const std::uint16_t port : server.ports()) std::cout << " " << port;
  std::cout << std::endl;
  int signal = 0;
  sigwait(&ends, &signal);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlserver", [&] { return run(argc, argv); });
}
