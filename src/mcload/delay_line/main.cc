// delay-line: a server in memcached's protocols that answers after known delays (docs/mcload.md).

#include <csignal>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "mcload/delay_line/delay_line.h"

namespace {

using turntable::mcload::DelayLine;

DelayLine* running = nullptr;

void stop(int /*signal*/) {
  running->stop();
}

int run(int argc, char** argv) {
  turntable::ProgramOptions app("delay-line",
                                "Answers memcached requests after delays of a known distribution");
  std::string listen, delay_us = "fixed:1000", script, factor_file, log;
  DelayLine::Settings settings;
  std::int64_t spin_us = 0;
  app.option("--listen", listen, "HOST:PORT or /PATH of a socket").required();
  app.option("--delay-us", delay_us,
             "Delays in us: fixed:N, exponential:RATE, lognormal:MEDIAN,SIGMA, "
             "bimodal:LOW,HIGH,SHARE, … (src/load/variate.h)")
      .shows_default();
  app.flag("--fifo", settings.is_fifo, "The delays are service times of one queue");
  app.flag("--sets-at-once", settings.sets_at_once, "SETs have no delay");
  app.flag("--hits-always", settings.hits_always, "GETs of unknown keys are hits, too");
  app.option("--seed", settings.seed, "Of the delays").shows_default();
  app.flag("--realtime", settings.realtime, "Run before all ordinary threads, if allowed");
  app.option("--spin-us", spin_us, "Awake so long before an answer is due").shows_default();
  app.option("--script", script, "File with lines FROM_S FACTOR: delays times this factor");
  app.option("--factor-file", factor_file, "File with a factor, which may be rewritten");
  app.option("--log", log, "File for the delays that were given, written at SIGTERM");
  if (const auto status = app.parse(argc, argv)) return *status;
  settings.address = turntable::mcload::ServerAddress::parse(listen);
  settings.delay_us = turntable::load::Variate::parse(delay_us);
  settings.spin_ns = spin_us * 1000;
  if (!script.empty())
    settings.slowdown.set_script(turntable::mcload::Slowdown::read_script(script));
  if (!factor_file.empty()) settings.slowdown.set_file(factor_file);
  DelayLine server(settings);
  running = &server;
  std::signal(SIGTERM, stop);
  std::signal(SIGINT, stop);
  std::cout << "listening" << std::endl;
  server.run();
  if (!log.empty()) std::ofstream(log) << server.log().dump(1) << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("delay-line", [&] { return run(argc, argv); });
}
