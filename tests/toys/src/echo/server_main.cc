// echo-server: a resident node that sends every datagram back (docs/add-a-system.md).
//
//   prepare {"capacity_per_s"}                         0: as fast as it can
//   capacity {"capacity_per_s"}                        the same while it serves
//   start   {"measure_from_ns", "measure_until_ns"}    CLOCK_REALTIME
//   stats
//   stop                                               answers nothing more
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "echo/request_number.h"
#include "net/udp.h"
#include "node/arguments.h"
#include "node/control_server.h"

namespace turntable::echo {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::int64_t kLateNs = 50'000'000;
constexpr std::size_t kQueued = 1024;  // requests that wait

class Server {
 public:
  explicit Server(const sockaddr_in& local) : local_(local), wake_(::eventfd(0, EFD_CLOEXEC)) {}
  ~Server() { end(); }

  Json prepare(const Json& args) {
    const std::lock_guard lock(command_mutex_);
    end();
    set_capacity("echo-server prepare", args);
    answered_ = answered_in_window_ = malformed_ = send_errors_ = 0;
    from_ns_ = until_ns_ = 0;
    socket_.reset();  // its port is needed again
    socket_ = net::open_udp(local_, kQueued);
    stopping_ = false;
    thread_ = std::thread([this] { serve(); });
    return Json::object();
  }

  Json capacity(const Json& args) {
    set_capacity("echo-server capacity", args);
    return Json::object();
  }

  Json start(const Json& args) {
    const std::int64_t now = realtime_ns();
    const node::Arguments arguments("echo-server start", args,
                                    {"measure_from_ns", "measure_until_ns"});
    const std::int64_t from = arguments.integer("measure_from_ns", now, INT64_MAX);
    const std::int64_t until = arguments.integer("measure_until_ns", from, INT64_MAX);
    const std::lock_guard lock(command_mutex_);
    require_serving();
    const std::int64_t offset = realtime_to_monotonic_ns();
    until_ns_ = until + offset;
    from_ns_ = from + offset;
    return Json::object();
  }

  Json stats() {
    const std::lock_guard lock(command_mutex_);
    require_serving();
    return {{"format", kFormat},
            {"window_ns", until_ns_ - from_ns_},
            {"answered_total", answered_.load()},
            {"answered_in_window", answered_in_window_.load()},
            {"malformed", malformed_.load()},
            {"send_errors", send_errors_.load()},
            {"socket_drops", net::socket_drops(socket_.get())}};
  }

  Json stop() {
    const std::lock_guard lock(command_mutex_);
    end();
    return Json::object();
  }

 private:
  void set_capacity(const std::string& where, const Json& args) {
    const node::Arguments arguments(where, args, {"capacity_per_s"});
    const double per_s = arguments.number("capacity_per_s", 0, 1e7);
    service_ns_ = per_s > 0 ? static_cast<std::int64_t>(1e9 / per_s) : 0;
  }

  void require_serving() const {
    if (!thread_.joinable())
      throw CommandError("wrong_state", "echo-server: nothing is served; send `prepare` first");
  }

  void end() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
  }

  void serve() {
    std::int64_t free_ns = 0;  // when the capacity allows the next answer
    while (!stopping_) {
      std::array<pollfd, 2> polled = {{{wake_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}}};
      const std::int64_t now = monotonic_ns();
      if (service_ns_ > 0 && free_ns > now) {
        const timespec left = to_timespec(free_ns - now);
        ::ppoll(polled.data(), 1, &left, nullptr);
        continue;
      }
      ::poll(polled.data(), polled.size(), -1);
      while (answer_one()) {
        if (service_ns_ == 0) continue;
        // A thread that came late to a queue has not been idle.
        const bool was_late = now - free_ns < kLateNs;
        free_ns = (was_late ? free_ns : now) + service_ns_;
        break;
      }
    }
  }

  // False: no datagram waits.
  bool answer_one() {
    std::array<char, 2 * sizeof(RequestNumber)> bytes;
    sockaddr_in from{};
    auto* peer = reinterpret_cast<sockaddr*>(&from);
    socklen_t peer_bytes = sizeof from;
    const ssize_t length =
        ::recvfrom(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT, peer, &peer_bytes);
    if (length < 0) return false;
    if (length != sizeof(RequestNumber)) {
      ++malformed_;
    } else if (::sendto(socket_.get(), bytes.data(), length, 0, peer, peer_bytes) != length) {
      ++send_errors_;
    } else {
      ++answered_;
      const std::int64_t now = monotonic_ns();
      if (now >= from_ns_ && now < until_ns_) ++answered_in_window_;
    }
    return true;
  }

  const sockaddr_in local_;
  UniqueFd wake_;
  std::mutex command_mutex_;
  UniqueFd socket_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> service_ns_{0};             // 0: no limit
  std::atomic<std::int64_t> from_ns_{0}, until_ns_{0};  // CLOCK_MONOTONIC
  std::atomic<std::int64_t> answered_{0}, answered_in_window_{0}, malformed_{0}, send_errors_{0};
};

int run(int argc, char** argv) {
  turntable::ProgramOptions app("echo-server", "Sends every datagram back");
  std::string directory, address, name = "echo-server";
  std::uint16_t port = 0;
  app.option("--directory", directory, "Run directory: the control socket goes here").required();
  app.option("--name", name, "Name of the node").shows_default();
  app.option("--address", address, "IPv4 address of the data network").required();
  app.option("--port", port, "UDP port").required();
  if (const auto status = app.parse(argc, argv)) return *status;
  Server server(net::parse_ipv4("--address", address, port));
  node::ControlServer control(directory, name);
  control.on("prepare", [&](const Json& args) { return server.prepare(args); });
  control.on("capacity", [&](const Json& args) { return server.capacity(args); });
  control.on("start", [&](const Json& args) { return server.start(args); });
  control.on("stats", [&](const Json&) { return server.stats(); });
  control.on("stop", [&](const Json&) { return server.stop(); });
  control.run();
  return 0;
}

}  // namespace
}  // namespace turntable::echo

int main(int argc, char** argv) {
  return turntable::run_main("echo-server", [&] { return turntable::echo::run(argc, argv); });
}
