// pingpong-client: a resident node with N connections in a closed loop: each sends again when its
// answer has come.
//
//   prepare {"server_address", "server_port", "connections"}    connects
//   start   {"start_at_ns", "warmup_ns", "measure_ns"}          CLOCK_REALTIME
//   wait    {"deadline_s"}
//   stats
#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/errno_error.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "node/common_start.h"
#include "node/control_server.h"
#include "pingpong/connection.h"
#include "stats/histogram.h"

namespace turntable::pingpong {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMaxLatencyNs = 60'000'000'000;
constexpr int kLookForStopMs = 100;

struct Connection {
  UniqueFd socket;
  std::int64_t sent_ns = 0;
};

class Client {
 public:
  ~Client() { end(); }

  Json prepare(const Json& args) {
    const sockaddr_in server =
        ipv4(args.at("server_address").get<std::string>(), args.at("server_port").get<int>());
    const int count = args.at("connections").get<int>();
    if (count < 1)
      throw bad_argument("connections " + std::to_string(count) + ": expected 1 or more");
    const std::lock_guard lock(command_mutex_);
    end();
    connections_.clear();
    for (int i = 0; i < count; ++i) connections_.push_back({.socket = connected(server)});
    latency_.clear();
    seconds_.clear();
    trips_ = errors_ = 0;
    return Json::object();
  }

  Json start(const Json& args) {
    const std::lock_guard lock(command_mutex_);
    if (thread_.joinable() || connections_.empty())
      throw CommandError("wrong_state",
                         "pingpong-client start: send `prepare` before each `start`");
    const auto start_at = args.at("start_at_ns").get<std::int64_t>();
    node::check_common_start("pingpong-client start", start_at, 0);
    start_ns_ = start_at + realtime_to_monotonic_ns();
    from_ns_ = start_ns_ + args.at("warmup_ns").get<std::int64_t>();
    until_ns_ = from_ns_ + args.at("measure_ns").get<std::int64_t>();
    seconds_.resize(static_cast<std::size_t>((until_ns_ - from_ns_ + 999'999'999) / 1'000'000'000));
    running_ = true;
    thread_ = std::thread([this] { play(); });
    return Json::object();
  }

  Json wait(const Json& args) {
    const std::chrono::duration<double> deadline(args.at("deadline_s").get<double>());
    std::unique_lock lock(state_mutex_);
    if (!over_.wait_for(lock, deadline, [&] { return !running_; }))
      throw CommandError("timeout", "pingpong-client wait: it still runs after deadline_s");
    return Json::object();
  }

  Json stats() {
    const std::lock_guard lock(command_mutex_);
    if (!thread_.joinable() || running_)
      throw CommandError("wrong_state", "pingpong-client stats: send `start` and `wait` before");
    return {{"format", 1},         {"window_ns", until_ns_ - from_ns_},
            {"trips", trips_},     {"latency_ns", latency_.encode()},
            {"seconds", seconds_}, {"start_late_us", static_cast<double>(start_late_ns_) / 1e3},
            {"errors", errors_}};
  }

  void cancel() {
    const std::lock_guard lock(command_mutex_);
    end();
  }

 private:
  static UniqueFd connected(const sockaddr_in& server) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), any(server), sizeof server) != 0)
      throw errno_error("pingpong-client prepare: cannot connect");
    send_at_once(socket.get());
    return socket;
  }

  void end() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    stopping_ = false;
  }

  void play() {
    while (!stopping_ && monotonic_ns() < start_ns_) {
      const timespec at = to_timespec(std::min(start_ns_, monotonic_ns() + 100'000'000));
      ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    }
    start_late_ns_ = monotonic_ns() - start_ns_;
    for (Connection& connection : connections_) send(connection);
    std::vector<pollfd> polled;
    for (Connection& connection : connections_)
      polled.push_back({connection.socket.get(), POLLIN, 0});
    while (!stopping_ && errors_ == 0 && monotonic_ns() < until_ns_) {
      ::poll(polled.data(), polled.size(), kLookForStopMs);
      for (std::size_t i = 0; i < polled.size(); ++i)
        if (polled[i].revents != 0) receive(connections_[i]);
    }
    const std::lock_guard lock(state_mutex_);
    running_ = false;
    over_.notify_all();
  }

  void send(Connection& connection) {
    const Message message{};
    connection.sent_ns = monotonic_ns();
    if (::send(connection.socket.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0)
      ++errors_;
  }

  void receive(Connection& connection) {
    Message message;
    if (::recv(connection.socket.get(), message.data(), message.size(), MSG_WAITALL) !=
        kMessageBytes) {
      ++errors_;
      return;
    }
    const std::int64_t now = monotonic_ns();
    if (now >= from_ns_ && now < until_ns_) {
      ++trips_;
      ++seconds_[static_cast<std::size_t>((now - from_ns_) / 1'000'000'000)];
      latency_.record(now - connection.sent_ns);
    }
    send(connection);
  }

  std::mutex command_mutex_;
  std::vector<Connection> connections_;
  std::thread thread_;
  std::int64_t start_ns_ = 0, from_ns_ = 0, until_ns_ = 0, start_late_ns_ = 0;
  stats::Histogram latency_{kMaxLatencyNs};
  std::vector<std::int64_t> seconds_;
  std::int64_t trips_ = 0, errors_ = 0;
  std::atomic<bool> stopping_{false};

  std::mutex state_mutex_;
  std::condition_variable over_;
  std::atomic<bool> running_{false};
};

int run(int argc, char** argv) {
  turntable::ProgramOptions app("pingpong-client", "A closed loop over TCP connections");
  std::string directory, name;
  app.option("--directory", directory, "Run directory").required();
  app.option("--name", name, "Name of the node").required();
  if (const auto status = app.parse(argc, argv)) return *status;
  Client client;
  node::ControlServer control(directory, name);
  control.on("prepare", [&](const Json& args) { return client.prepare(args); });
  control.on("start", [&](const Json& args) { return client.start(args); });
  control.on("wait", [&](const Json& args) { return client.wait(args); });
  control.on("stats", [&](const Json&) { return client.stats(); });
  control.on_shutdown([&] { client.cancel(); });
  control.run();
  return 0;
}

}  // namespace
}  // namespace turntable::pingpong

int main(int argc, char** argv) {
  return turntable::run_main("pingpong-client",
                             [&] { return turntable::pingpong::run(argc, argv); });
}
