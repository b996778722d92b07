// Servers for tests of the generator: a delay line and scripted ones in this process, and Debian's
// memcached.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "common/clock.h"
#include "common/scratch_directory.h"
#include "mcload/delay_line/delay_line.h"
#include "mcload/server_address.h"

namespace turntable::mcload::testing {

// On a socket in a directory of its own, if the settings have no address.
class RunningDelayLine {
 public:
  explicit RunningDelayLine(DelayLine::Settings settings = {}) {
    path_ = (directory_.path() / "server").native();
    if (settings.address.text().empty()) settings.address = ServerAddress::unix_socket(path_);
    address_ = settings.address;
    server_ = std::make_unique<DelayLine>(std::move(settings));
    thread_ = std::thread([this] { server_->run(); });
  }
  ~RunningDelayLine() { end(); }

  void end() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  const DelayLine& server() const { return *server_; }  // after end()
  ServerAddress address() const { return address_; }
  nlohmann::json json() const { return {{"socket", path_}}; }
  std::string directory() const { return directory_.path().native(); }

 private:
  ScratchDirectory directory_;
  std::string path_;
  ServerAddress address_;
  std::unique_ptr<DelayLine> server_;
  std::thread thread_;
};

enum class Transport : std::uint8_t { kUnix, kTcp };

// Takes one connection after another, does with it what `serve` says, and closes it.
class ScriptedServer {
 public:
  ScriptedServer(Transport transport, std::function<void(int client)> serve)
      : address_(transport == Transport::kTcp
                     ? ServerAddress::tcp("127.0.0.1", 0)
                     : ServerAddress::unix_socket((directory_.path() / "server").native())),
        listener_(address_.listen()),
        serve_(std::move(serve)) {
    if (transport == Transport::kTcp) {
      sockaddr_in bound{};
      socklen_t length = sizeof bound;
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&bound), &length);
      address_ = ServerAddress::tcp("127.0.0.1", ntohs(bound.sin_port));
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  ServerAddress address() const { return address_; }
  int served() const { return served_; }  // connections that it has closed

  // For `serve`. False: the client closed the connection.
  static bool receive(int client) {
    std::array<char, 4096> bytes{};
    return ::recv(client, bytes.data(), bytes.size(), 0) > 0;
  }
  static void send(int client, std::string_view bytes) {
    ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, 10) <= 0) continue;
      UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) continue;
      serve_(client.get());
      client.reset();
      ++served_;
    }
  }

  ScratchDirectory directory_;
  ServerAddress address_;
  UniqueFd listener_;
  std::function<void(int)> serve_;
  std::atomic<int> served_{0};
  std::jthread thread_;
};

// memcached in a process of its own; is_there() is false where it is not installed.
class RunningMemcached {
 public:
  explicit RunningMemcached(std::vector<std::string> more = {}) {
    if (::access("/usr/bin/memcached", X_OK) != 0) return;
    path_ = (directory_.path() / "memcached").native();
    std::vector<std::string> words = {"memcached", "-s", path_, "-U", "0", "-t", "1", "-u", "root"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::execv("/usr/bin/memcached", argv.data());
      ::_exit(127);
    }
    const std::int64_t deadline_ns = monotonic_ns() + 20 * kSecondNs;
    while (!address().begin_connect(false) && monotonic_ns() < deadline_ns) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = 0;
        ADD_FAILURE() << "memcached ended; its message is above";
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  ~RunningMemcached() { end(); }

  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool is_there() const { return pid_ > 0; }
  ServerAddress address() const { return ServerAddress::unix_socket(path_); }
  nlohmann::json json() const { return {{"socket", path_}}; }

 private:
  ScratchDirectory directory_;
  std::string path_;
  pid_t pid_ = 0;
};

}  // namespace turntable::mcload::testing
