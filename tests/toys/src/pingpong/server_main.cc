// pingpong-server: a resident node that sends back what it receives, on any number of connections.
//
//   prepare    closes all connections, and listens
//   stats
#include <poll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "common/errno_error.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"
#include "pingpong/connection.h"

namespace turntable::pingpong {
namespace {

using Json = nlohmann::json;

class Server {
 public:
  explicit Server(const sockaddr_in& local) : local_(local), wake_(::eventfd(0, EFD_CLOEXEC)) {}
  ~Server() { end(); }

  Json prepare() {
    const std::lock_guard lock(command_mutex_);
    end();
    listen();
    messages_ = errors_ = accepted_ = 0;
    stopping_ = false;
    thread_ = std::thread([this] { serve(); });
    return Json::object();
  }

  Json stats() {
    const std::lock_guard lock(command_mutex_);
    if (!thread_.joinable())
      throw CommandError("wrong_state", "pingpong-server stats: send `prepare` first");
    return {{"format", 1},
            {"messages", messages_.load()},
            {"connections", accepted_.load()},
            {"errors", errors_.load()}};
  }

 private:
  void listen() {
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(listener_.get(), any(local_), sizeof local_) != 0 ||
        ::listen(listener_.get(), SOMAXCONN) != 0)
      throw errno_error("pingpong-server prepare: cannot listen");
  }

  void end() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
    listener_.reset();
  }

  void serve() {
    std::vector<UniqueFd> connections;
    while (!stopping_) {
      std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      for (const UniqueFd& connection : connections)
        polled.push_back({connection.get(), POLLIN, 0});
      ::poll(polled.data(), polled.size(), -1);
      for (std::size_t i = connections.size(); i-- > 0;) {
        if (polled[i + 2].revents == 0 || answer(connections[i].get())) continue;
        connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (polled[1].revents != 0) accept(connections);
    }
  }

  void accept(std::vector<UniqueFd>& connections) {
    UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection) return;
    send_at_once(connection.get());
    connections.push_back(std::move(connection));
    ++accepted_;
  }

  // False: the connection is over.
  bool answer(int fd) {
    Message message;
    const ssize_t length = ::recv(fd, message.data(), message.size(), MSG_WAITALL);
    if (length == 0) return false;
    if (length != kMessageBytes || ::send(fd, message.data(), kMessageBytes, MSG_NOSIGNAL) < 0) {
      ++errors_;
      return false;
    }
    ++messages_;
    return true;
  }

  const sockaddr_in local_;
  UniqueFd wake_, listener_;
  std::mutex command_mutex_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> messages_{0}, accepted_{0}, errors_{0};
};

int run(int argc, char** argv) {
  turntable::ProgramOptions app("pingpong-server", "Sends messages back over TCP");
  std::string directory, name, address;
  std::uint16_t port = 0;
  app.option("--directory", directory, "Run directory").required();
  app.option("--name", name, "Name of the node").required();
  app.option("--address", address, "IPv4 address").required();
  app.option("--port", port, "TCP port").required();
  if (const auto status = app.parse(argc, argv)) return *status;
  Server server(ipv4(address, port));
  node::ControlServer control(directory, name);
  control.on("prepare", [&](const Json&) { return server.prepare(); });
  control.on("stats", [&](const Json&) { return server.stats(); });
  control.run();
  return 0;
}

}  // namespace
}  // namespace turntable::pingpong

int main(int argc, char** argv) {
  return turntable::run_main("pingpong-server",
                             [&] { return turntable::pingpong::run(argc, argv); });
}
