// echo-client: a resident node that offers an echo-server a load (docs/add-a-system.md).
//
//   prepare {"server_address", "server_port", "rate_per_s", "seed"}
//   start   {"start_at_ns", "warmup_ns", "measure_ns", "drain_ns"}     start_at_ns: CLOCK_REALTIME
//   wait    {"deadline_s"}     until the drain is over
//   stats                      of the iteration that is over
//   stop                       ends it early

#include <memory>
#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "echo/codec.h"
#include "load/arrivals.h"
#include "load/client_life.h"
#include "load/open_loop_thread.h"
#include "net/udp.h"
#include "node/arguments.h"
#include "node/control_server.h"

namespace turntable::echo {
namespace {

using Json = nlohmann::json;
using Thread = load::OpenLoopThread<Codec>;

constexpr int kFormat = 1;

double us(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

Json raw_statistics(const Thread& thread, std::int64_t window_ns, bool whole) {
  const load::OpenLoopStatistics& s = thread.loop().statistics();
  const Thread::Packets& packets = thread.packets();
  Json seconds = Json::array();
  for (const load::OpenLoopSecond& second : s.seconds) {
    seconds.push_back({{"second", seconds.size()},
                       {"offered", second.offered},
                       {"delivered", second.delivered},
                       {"latency_sum_ns", second.latency_sum_ns},
                       {"latency_max_ns", second.latency_max_ns}});
  }
  Json raw = {{"format", kFormat},
              {"complete", whole},
              {"window_ns", window_ns},
              {"offered", s.offered},
              {"delivered", s.delivered},
              {"seconds", std::move(seconds)},
              {"latency_ns", s.latency_ns.encode()},
              {"latency_sum_ns", s.latency_ns.sum()},
              {"from_send_ns", s.from_send_ns.encode()},
              {"send_late_ns", s.send_late_ns.encode()},
              {"send_late_max_us", us(s.send_late_ns.max())},
              {"start_late_us", us(thread.timing().start_lateness_ns)},
              {"unanswered", s.lost + s.unsent},
              {"requests_total", s.requests_total},
              {"answers_total", s.answers_total},
              {"malformed", thread.codec().malformed() + packets.unknown + s.redundant},
              {"send_errors", packets.send_errors},
              {"receive_errors", packets.receive_errors},
              {"socket_drops", thread.drops()},
              {"wait_ns", nullptr}};
  if (const auto& scheduling = thread.timing().scheduling) raw["wait_ns"] = scheduling->wait_ns;
  return raw;
}

// The one client: a thread and a socket.
class Client final : public load::Part {
 public:
  Client(load::Gap gap, std::unique_ptr<net::Datagrams> datagrams)
      : gap_(std::move(gap)), thread_(load::OpenLoop({}), Codec(), std::move(datagrams), {}) {}

  void set_schedule(const load::Schedule& schedule) override {
    thread_.set_schedule(schedule, gap_);
  }
  void run() override { thread_.run(); }
  void stop() noexcept override { thread_.stop(); }

  const Thread& thread() const { return thread_; }

 private:
  load::Gap gap_;
  Thread thread_;
};

class ClientNode {
 public:
  ClientNode(const std::string& address, node::ControlServer& control)
      : local_(net::parse_ipv4("--address", address, 0)),
        life_("echo-client", [&](std::string state) { control.set_state(std::move(state)); }) {}

  Json prepare(const Json& args) {
    const node::Arguments arguments("echo-client prepare", args,
                                    {"server_address", "server_port", "rate_per_s", "seed"});
    const auto port = static_cast<std::uint16_t>(arguments.integer("server_port", 1, 65535));
    const sockaddr_in server = net::parse_ipv4("echo-client prepare: \"server_address\"",
                                               arguments.text("server_address"), port);
    const load::Arrivals arrivals({.rate_per_s = arguments.number("rate_per_s", 1, 1e6)});
    const auto seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX));
    const auto command = life_.begin_prepare([&] { client_.reset(); });
    life_.prepared([&] {
      client_.emplace(load::drawn_gaps(arrivals, seed, /*client=*/0),
                      net::open_datagrams({.local = local_, .remote = server, .queued = 1024}));
      return std::vector<load::Part*>{&*client_};
    });
    return Json::object();
  }

  Json stats() {
    const auto lock = life_.lock();
    life_.require_finished("stats");
    return raw_statistics(client_->thread(), life_.schedule().window_ns(), !life_.stopped_early());
  }

  load::ClientLife& life() { return life_; }

 private:
  const sockaddr_in local_;
  std::optional<Client> client_;
  load::ClientLife life_;  // last: its thread uses the client
};

int run(int argc, char** argv) {
  turntable::ProgramOptions app("echo-client",
                                "Offers an echo-server a load: an open loop of Poisson arrivals");
  std::string directory, address, name = "echo-client";
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--name", name, "Name of the node").shows_default();
  app.option("--address", address, "IPv4 address of the data network").required();
  if (const auto status = app.parse(argc, argv)) return *status;
  node::ControlServer control(directory, name);
  ClientNode client(address, control);
  control.on("prepare", [&](const Json& args) { return client.prepare(args); });
  control.on("start", [&](const Json& args) { return client.life().start(args); });
  control.on("wait", [&](const Json& args) { return client.life().wait(args); });
  control.on("stats", [&](const Json&) { return client.stats(); });
  control.on("stop", [&](const Json& args) { return client.life().stop(args); });
  control.on_shutdown([&] { client.life().cancel(); });
  control.run();
  return 0;
}

}  // namespace
}  // namespace turntable::echo

int main(int argc, char** argv) {
  return turntable::run_main("echo-client", [&] { return turntable::echo::run(argc, argv); });
}
