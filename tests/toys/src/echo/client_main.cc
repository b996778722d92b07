// echo-client: a resident node that offers an echo-server a load (docs/add-a-system.md).
//
//   prepare {"server_address", "server_port", "rate_per_s", "seed"}
//   start   {"start_at_ns", "warmup_ns", "measure_ns", "drain_ns"}     start_at_ns: CLOCK_REALTIME
//   wait    {"deadline_s"}     until the drain is over
//   stats                      of the iteration that is over
//   stop                       ends it early

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/clock.h"
#include "common/command_line.h"
#include "common/run_main.h"
#include "echo/arguments.h"
#include "echo/datagrams.h"
#include "echo/open_loop.h"
#include "node/common_start.h"
#include "node/control_server.h"

namespace turntable::echo {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kMaxWindowNs = 3600 * kSecondNs;

double us(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

Json raw_statistics(const Statistics& s, std::int64_t window_ns, std::uint32_t drops, bool whole) {
  Json seconds = Json::array();
  for (const Second& second : s.seconds) {
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
              {"start_late_us", us(s.start_late_ns)},
              {"unanswered", s.unanswered},
              {"requests_total", s.requests_total},
              {"answers_total", s.answers_total},
              {"malformed", s.malformed},
              {"send_errors", s.send_errors},
              {"receive_errors", s.receive_errors},
              {"socket_drops", drops},
              {"wait_ns", nullptr}};
  if (s.scheduling) raw["wait_ns"] = s.scheduling->wait_ns;
  return raw;
}

class Client {
 public:
  Client(const sockaddr_in& local, node::ControlServer& control)
      : local_(local), control_(control) {}
  ~Client() { end(); }

  Json prepare(const Json& args) {
    const auto port = static_cast<std::uint16_t>(integer(args, "server_port", 1, 65535));
    const sockaddr_in server = ipv4(text(args, "server_address"), port);
    const double rate = number(args, "rate_per_s", 1, 1e6);
    const auto seed = static_cast<std::uint64_t>(integer(args, "seed", 0, INT64_MAX));
    const std::lock_guard command(command_mutex_);
    end();
    UniqueFd socket = open_socket(local_);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0)
      throw CommandError("unavailable", "echo-client prepare: no way to the server");
    loop_ = std::make_unique<OpenLoop>(std::move(socket), rate, seed);
    become(State::kPrepared, "prepared");
    return Json::object();
  }

  Json start(const Json& args) {
    const std::int64_t warmup = integer(args, "warmup_ns", 0, kMaxWindowNs);
    const std::int64_t measure = integer(args, "measure_ns", 1'000'000, kMaxWindowNs);
    const std::int64_t drain = integer(args, "drain_ns", 0, kMaxWindowNs);
    const std::int64_t start_at = integer(args, "start_at_ns", 0, INT64_MAX);
    node::check_common_start("echo-client start", start_at, warmup);
    const std::lock_guard command(command_mutex_);
    require(State::kPrepared, "start: send `prepare` before each `start`");
    Schedule schedule{.start_ns = start_at + realtime_to_monotonic_ns()};
    schedule.window_from_ns = schedule.start_ns + warmup;
    schedule.window_until_ns = schedule.window_from_ns + measure;
    schedule.drain_until_ns = schedule.window_until_ns + drain;
    loop_->set_schedule(schedule);
    window_ns_ = measure;
    stopped_early_ = false;
    become(State::kRunning, "running");
    thread_ = std::thread([this] {
      loop_->run();
      become(State::kFinished, "finished");
    });
    return Json::object();
  }

  Json wait(const Json& args) {
    const std::chrono::duration<double> deadline(number(args, "deadline_s", 0, 86400));
    std::unique_lock lock(state_mutex_);
    if (!finished_.wait_for(lock, deadline, [&] { return state_ != State::kRunning; }))
      throw CommandError("timeout", "echo-client wait: it still runs after deadline_s");
    return Json::object();
  }

  Json stats() {
    const std::lock_guard command(command_mutex_);
    require(State::kFinished, "stats: send `start` and `wait` before");
    return raw_statistics(loop_->statistics(), window_ns_, loop_->drops(), !stopped_early_);
  }

  Json stop() {
    const std::lock_guard command(command_mutex_);
    end();
    return Json::object();
  }

  void cancel() {  // while the others may wait
    const std::lock_guard command(command_mutex_);
    end();
  }

 private:
  enum class State : std::uint8_t { kIdle, kPrepared, kRunning, kFinished };

  void end() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(state_mutex_);
      stopped_early_ = state_ == State::kRunning;
    }
    loop_->stop();
    thread_.join();
  }

  void become(State state, const char* shown) {
    const std::lock_guard lock(state_mutex_);
    state_ = state;
    control_.set_state(shown);
    finished_.notify_all();
  }

  void require(State state, const char* message) {
    const std::lock_guard lock(state_mutex_);
    if (state_ != state) throw CommandError("wrong_state", std::string("echo-client ") + message);
  }

  const sockaddr_in local_;
  node::ControlServer& control_;

  std::mutex command_mutex_;  // before state_mutex_
  std::unique_ptr<OpenLoop> loop_;
  std::thread thread_;
  std::int64_t window_ns_ = 0;
  bool stopped_early_ = false;

  std::mutex state_mutex_;
  std::condition_variable finished_;
  State state_ = State::kIdle;
};

int run(int argc, char** argv) {
  turntable::CommandLine app("echo-client",
                             "Offers an echo-server a load: an open loop of Poisson arrivals");
  std::string directory, address, name = "echo-client";
  app.add_option("--directory", directory, "Run directory: the control socket goes here")
      ->required();
  app.add_option("--name", name, "Name of the node")->capture_default_str();
  app.add_option("--address", address, "IPv4 address of the data network")->required();
  CLI11_PARSE(app, argc, argv);
  node::ControlServer control(directory, name);
  Client client(ipv4(address, 0), control);
  control.on("prepare", [&](const Json& args) { return client.prepare(args); });
  control.on("start", [&](const Json& args) { return client.start(args); });
  control.on("wait", [&](const Json& args) { return client.wait(args); });
  control.on("stats", [&](const Json&) { return client.stats(); });
  control.on("stop", [&](const Json&) { return client.stop(); });
  control.on_shutdown([&] { client.cancel(); });
  control.run();
  return 0;
}

}  // namespace
}  // namespace turntable::echo

int main(int argc, char** argv) {
  return turntable::run_main("echo-client", [&] { return turntable::echo::run(argc, argv); });
}
