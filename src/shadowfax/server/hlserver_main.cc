// hlserver: a store on a hybrid log, served over TCP by workers that have a port each.

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/program_options.h"
#include "common/run_main.h"
#include "hybridlog/store.h"
#include "shadowfax/server/worker.h"

namespace {

using namespace turntable;

int run(int argc, char** argv) {
  ProgramOptions app("hlserver", "Serves a store on a hybrid log");
  shadowfax::WorkerSettings worker;
  hybridlog::StoreSettings store_settings;
  std::string file;
  unsigned threads = 1, base_port = 22'790, index_bits = 20, log_mb = 1024;
  double spin_us = 50;
  app.option("--address", worker.address, "IPv4 address").shows_default();
  app.option("--base-port", base_port, "Port of the first worker")
      .within(1, 65'535)
      .shows_default();
  app.option("--threads", threads, "Workers").within(1, 1024).shows_default();
  app.option("--index-bits", index_bits, "2^N buckets of 64 bytes").within(0, 40).shows_default();
  app.option("--log-mb", log_mb, "Of the log in memory").within(1, 1e7).shows_default();
  app.option("--page-bits", store_settings.log.page_bits, "Pages of 2^N bytes")
      .within(12, 30)
      .shows_default();
  app.option("--mutable-share", store_settings.log.mutable_share, "Of the log in memory")
      .within(0.01, 1)
      .shows_default();
  app.option("--file", file, "Where the log goes that has no room in memory").required();
  app.option("--spin-us", spin_us, "Looked for work before waiting for it")
      .within(0, 1e9)
      .shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  worker.spin = std::chrono::nanoseconds(static_cast<std::int64_t>(spin_us * 1e3));
  store_settings.index_buckets = std::size_t{1} << index_bits;
  store_settings.log.pages = (std::size_t{log_mb} << 20U) >> store_settings.log.page_bits;
  store_settings.threads = threads + 8;
  hybridlog::Store store(store_settings, hybridlog::open_file(file));
  std::vector<std::unique_ptr<shadowfax::Worker>> workers;
  for (unsigned i = 0; i < threads; ++i) {
    worker.port = static_cast<std::uint16_t>(base_port + i);
    workers.push_back(std::make_unique<shadowfax::Worker>(store, worker));
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::vector<std::jthread> running;
  running.reserve(workers.size());
  for (const auto& each : workers) running.emplace_back([&each] { each->run(); });
  std::cout << "ready" << std::endl;
  int signal = 0;
  sigwait(&ends, &signal);
  for (const auto& each : workers) each->stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlserver", [&] { return run(argc, argv); });
}
