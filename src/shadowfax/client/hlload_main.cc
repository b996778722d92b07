// hlload: clients with full pipelines, and how many operations a server does for them.

#include <atomic>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "shadowfax/client/client_session.h"
#include "stats/histogram.h"
#include "workload/random.h"

namespace {

using namespace turntable;
using shadowfax::ClientSession;

struct Options {
  ClientSession::Settings session;
  std::uint64_t keys = 1'000'000;
  unsigned threads = 1;
  double seconds = 3;
};

class Counter : public ClientSession::Replies {
 public:
  void done(const shadowfax::Reply& reply) override {
    ++all;
    if (reply.status == shadowfax::ReplyStatus::kOk) ++ok;
  }
  void batch_done(std::int64_t round_trip_ns) override { round_trips_ns.record(round_trip_ns); }

  std::uint64_t all = 0, ok = 0;
  stats::Histogram round_trips_ns{60 * kSecondNs};
};

void fill(ClientSession& session, std::uint64_t keys) {
  Counter counter;
  for (std::uint64_t key = 0; key < keys; ++key) {
    session.add({shadowfax::Opcode::kUpsert, key, 0});
    while (!session.has_room()) session.receive(counter);
  }
  session.flush();
  while (session.batches_under_way() > 0) session.receive(counter);
}

void load(ClientSession& session, const Options& options, unsigned thread,
          const std::atomic<bool>& ends, Counter& counter) {
  workload::Random random(thread + 1);
  while (!ends.load(std::memory_order_relaxed)) {
    while (session.has_room()) {
      const auto key =
          static_cast<std::uint64_t>((__uint128_t{random.next()} * options.keys) >> 64U);
      session.add({shadowfax::Opcode::kAdd, key, 1});
    }
    session.receive(counter);
  }
  session.flush();
  while (session.batches_under_way() + session.pending() > 0) session.receive(counter);
}

int run(int argc, char** argv) {
  Options options;
  ProgramOptions app("hlload", "Keeps a server's sessions full");
  unsigned port = 22'790;
  bool fills = false;
  app.option("--address", options.session.address, "IPv4 address of the server").shows_default();
  app.option("--base-port", port, "Port of its first worker").within(1, 65'535).shows_default();
  app.option("--threads", options.threads, "Each with a session at a worker of its own")
      .within(1, 1024)
      .shows_default();
  app.option("--keys", options.keys, "How many").within(1, 1e12).shows_default();
  app.option("--batch-bytes", options.session.batch_bytes, "Of a batch's requests")
      .within(17, 1 << 20)
      .shows_default();
  app.option("--pipeline", options.session.pipeline, "Batches under way")
      .within(1, 1024)
      .shows_default();
  app.option("--seconds", options.seconds, "Of the load").within(0.01, 1e6).shows_default();
  app.flag("--fill", fills, "Store all keys first");
  if (const auto status = app.parse(argc, argv)) return *status;
  std::vector<std::unique_ptr<ClientSession>> sessions;
  for (unsigned i = 0; i < options.threads; ++i) {
    options.session.port = static_cast<std::uint16_t>(port + i);
    sessions.push_back(std::make_unique<ClientSession>(options.session));
  }
  if (fills) fill(*sessions[0], options.keys);
  std::atomic<bool> ends{false};
  std::vector<Counter> counters(options.threads);
  const std::int64_t began_ns = monotonic_ns();
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < options.threads; ++i)
      threads.emplace_back([&, i] { load(*sessions[i], options, i, ends, counters[i]); });
    // waits: for the time that is measured
    std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
    ends = true;
  }
  const double seconds = static_cast<double>(monotonic_ns() - began_ns) / 1e9;
  Counter all;
  for (const Counter& each : counters) {
    all.all += each.all;
    all.ok += each.ok;
    all.round_trips_ns.merge(each.round_trips_ns);
  }
  const double per_s = static_cast<double>(all.all) / seconds;
  std::cout
      << nlohmann::json{{"operations_per_s", per_s},
                        {"ok", all.ok},
                        {"round_trip_p50_us",
                         static_cast<double>(all.round_trips_ns.value_at_percentile(50)) / 1e3},
                        {"little_us", options.threads *
                                          static_cast<double>(options.session.pipeline *
                                                              sessions[0]->requests_in_batch()) /
                                          per_s * 1e6}}
      << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlload", [&] { return run(argc, argv); });
}
