// kvclient-in-memory: the generator and the statistics of kvclient without sockets.
//
//   kvclient-in-memory --workload workloada --clients 64 --operations 5000000
//
// Generates the traces, and plays them once against nobody: what the clients have asked for is
// answered all at once, each request with success and without a value, as by a store that
// does nothing. Prints how many were answered.
#include <array>
#include <atomic>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "farreach/kv/trace_clients.h"

namespace turntable::bench {
namespace {

constexpr std::atomic<bool> kNotCancelled{false};
constexpr std::int64_t kForEver = 60'000'000'000;
constexpr unsigned kScale = 1;

// Keeps what is asked until it is answered.
class SilentStore final : public kv::RequestSink {
 public:
  explicit SilentStore(std::size_t clients) : asked_(clients), answered_(clients) {}

  void send(const kv::ClientRequest& request) noexcept override { asked_[count_++] = request; }

  // Answers what has been asked for; in answering, the clients ask again.
  void answer(kv::TraceClients& clients, std::int64_t now_ns) noexcept {
    asked_.swap(answered_);
    const std::size_t count = std::exchange(count_, 0);
    for (const kv::ClientRequest& request : std::span(answered_).first(count)) {
      clients.handle(
          {.type = request.type == kv::PacketType::kPutRequest ? kv::PacketType::kPutResponse
                                                               : kv::PacketType::kGetResponse,
           .key = workload::wire_key(request.key),
           .request_id = request.id,
           .stat = kv::kStatAbsent,
           .node = 0},
          now_ns);
    }
  }

 private:
  std::vector<kv::ClientRequest> asked_;
  std::vector<kv::ClientRequest> answered_;
  std::size_t count_ = 0;
};

void run(const workload::Workload& workload) {
  const kv::Traces traces(workload, 0, workload.clients, kNotCancelled);
  const kv::Replay replay(traces, kScale, std::vector{0U});
  SilentStore store(workload.clients);
  kv::TraceClients clients({.first_client = 0,
                            .clients = workload.clients,
                            .first_global_client = 0,
                            .value_bytes = workload.value_bytes,
                            .timeout_ns = kForEver},
                           replay, store);
  std::int64_t now = monotonic_ns();
  clients.set_window(now, now + kForEver);
  clients.enter(load::Phase::kMeasure);
  clients.begin(now);
  const auto wanted = static_cast<std::int64_t>(replay.operations());
  while (clients.answers() < wanted) {
    now = monotonic_ns();
    store.answer(clients, now);
    clients.act(now);
  }
  const kv::PartitionStatistics& counted = clients.statistics().partitions.front();
  std::cout << nlohmann::json{{"operations", counted.server_ops},
                              {"mean_latency_ns",
                               counted.server_latency_ns.sum() / counted.server_latency_ns.count()}}
                   .dump()
            << std::endl;
}

int run_program(int argc, char** argv) {
  nlohmann::json object;
  std::string name = "workloada";
  std::int64_t clients = 64;
  std::int64_t operations = 1'000'000;
  turntable::ProgramOptions app("kvclient-in-memory",
                                "The generator and the statistics of kvclient without sockets");
  app.option("--workload", name, "Profile").shows_default();
  app.option("--clients", clients, "Logical clients").shows_default();
  app.option("--operations", operations, "Operations of all clients together").shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  run(workload::workload_from_json(
      {{"name", name}, {"clients", clients}, {"operations", operations}}));
  return 0;
}

}  // namespace
}  // namespace turntable::bench

int main(int argc, char** argv) {
  return turntable::run_main("kvclient-in-memory",
                             [&] { return turntable::bench::run_program(argc, argv); });
}
