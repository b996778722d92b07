// A node for the tests: answers `ping`, can ignore SIGTERM, can leave processes behind.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "common/run_main.h"
#include "node/control_server.h"

namespace {

// A descendant that leaves the node's session, as a daemon would, and writes down its pid.
void leave_orphan(const std::string& pid_file) {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  std::ofstream(pid_file + ".part") << ::getpid();
  std::filesystem::rename(pid_file + ".part", pid_file);
  while (true) ::pause();
}

}  // namespace

namespace {

int run_program(int argc, char** argv) {
  std::string directory;
  std::string name;
  std::string orphan_file;
  bool ignore_sigterm = false;
  bool mute = false;
  CLI::App app;
  app.add_option("--directory", directory)->required();
  app.add_option("--name", name)->required();
  app.add_option("--orphan", orphan_file);
  app.add_flag("--ignore-sigterm", ignore_sigterm);
  app.add_flag("--mute", mute, "never answers");
  CLI11_PARSE(app, argc, argv);

  if (!orphan_file.empty()) leave_orphan(orphan_file);
  if (mute) {
    std::cout << "mute node is up" << std::endl;
    while (true) ::pause();
  }
  turntable::node::ControlServer server(directory, name);
  std::atomic<bool> end_wait{false};
  server.on("echo", [](const auto& args) { return args; });
  server.on("variable", [](const auto& args) {
    const char* value = std::getenv(args.at("name").template get<std::string>().c_str());
    return nlohmann::json(value == nullptr ? "" : value);
  });
  server.on("input", [](const auto&) {
    std::ifstream input("/dev/stdin");
    return nlohmann::json(std::string(std::istreambuf_iterator<char>(input), {}));
  });
  server.on("full", [](const auto&) -> nlohmann::json {
    throw turntable::CommandError("full", "no room");
  });
  server.on("wait", [&](const auto&) {
    end_wait.wait(false);
    return nlohmann::json("woken");
  });
  server.on_shutdown([&] {
    end_wait = true;
    end_wait.notify_all();
  });
  if (ignore_sigterm) {
    // The server's own handlers are installed in run(); ignoring comes after that, on the first
    // `deafen`.
    server.on("deafen", [](const auto&) {
      ::signal(SIGTERM, SIG_IGN);
      return nlohmann::json::object();
    });
  }
  server.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("test-node", [&] { return run_program(argc, argv); });
}
