// Programs of a cluster, which tests stop, kill and begin again.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/scratch_directory.h"
#include "common/unique_fd.h"
#include "net/credentials.h"
#include "net/ipv4.h"
#include "shadowfax/cluster/cluster_state.h"

namespace turntable::shadowfax::testing {

// One that says "ready ..." in its first line.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const UniqueFd from(ends[0]);
    UniqueFd to(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
    argv.push_back(nullptr);
    const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + arguments[0]);
    to.reset();
    for (char c = 0; ::read(from.get(), &c, 1) == 1 && c != '\n';) said_ += c;
    if (!said_.starts_with("ready")) throw std::runtime_error(arguments[0] + " does not begin");
  }
  ~Program() { kill(); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string& said() const { return said_; }

  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // It has stopped itself.
  bool is_stopped() const {
    int status = 0;
    return is_stopped_ || (is_stopped_ = ::waitpid(pid_, &status, WUNTRACED | WNOHANG) == pid_ &&
                                         WIFSTOPPED(status));
  }
  void go_on() {
    is_stopped_ = false;
    ::kill(pid_, SIGCONT);
  }

 private:
  pid_t pid_ = 0;
  mutable bool is_stopped_ = false;
  std::string said_;
};

// A metadata service and up to three servers, of which the first owns all keys.
class Cluster {
 public:
  // compact_above_mb: 0: logs are not compacted.
  explicit Cluster(int compact_above_mb = 1) : compact_above_mb_(compact_above_mb) {
    std::ofstream(secret()) << std::string(64, 's') << "\n";
    std::filesystem::permissions(secret(), std::filesystem::perms::owner_read);
    start_metadata();
  }

  void start_metadata() {
    metadata_.reset();
    metadata_.emplace(std::vector<std::string>{TURNTABLE_HLMETA, "--port", std::to_string(port_),
                                               "--file", file("state.json"), "--secret", secret()});
    port_ = std::stoi(metadata_->said().substr(metadata_->said().rfind(' ')));
  }
  void start(ServerNumber server, const std::string& stop_at = "never", int page_bits = 12) {
    servers_[server].reset();
    servers_[server].emplace(std::vector<std::string>{TURNTABLE_HLSERVER,
                                                      "--base-port",
                                                      "0",
                                                      "--threads",
                                                      "2",
                                                      "--index-bits",
                                                      "8",
                                                      "--page-bits",
                                                      std::to_string(page_bits),
                                                      "--log-mb",
                                                      "1",
                                                      "--mutable-share",
                                                      "0.5",
                                                      "--file",
                                                      log_file(server),
                                                      "--checkpoint",
                                                      checkpoint_file(server),
                                                      "--checkpoint-s",
                                                      "0.02",
                                                      "--compact-above-mb",
                                                      std::to_string(compact_above_mb_),
                                                      "--metadata",
                                                      "127.0.0.1:" + std::to_string(port_),
                                                      "--number",
                                                      std::to_string(server),
                                                      "--secret",
                                                      secret(),
                                                      "--stop-at",
                                                      stop_at});
  }
  Program& server(ServerNumber number) { return *servers_[number]; }
  Program& metadata() { return *metadata_; }

  std::string log_file(ServerNumber server) const {
    return file("server" + std::to_string(server));
  }
  std::string checkpoint_file(ServerNumber server) const { return log_file(server) + ".json"; }

  sockaddr_in metadata_address() const {
    return net::parse_ipv4("", "127.0.0.1", static_cast<std::uint16_t>(port_));
  }
  net::Credentials credentials(const std::string& name) const {
    return net::Credentials::from_file(secret(), "test", name);
  }

 private:
  std::string file(const std::string& name) const { return directory_.path() / name; }
  std::string secret() const { return file("secret"); }

  const int compact_above_mb_;
  ScratchDirectory directory_;
  int port_ = 0;
  std::optional<Program> metadata_;
  std::array<std::optional<Program>, 3> servers_;
};

}  // namespace turntable::shadowfax::testing
