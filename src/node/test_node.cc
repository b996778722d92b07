// A node for the tests: answers `ping`, can ignore SIGTERM, can leave processes behind.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "common/program_options.h"
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
  turntable::ProgramOptions app("test-node", "A node that does what tests ask of it");
  app.option("--directory", directory, "Run directory").required();
  app.option("--name", name, "Name of the node").required();
  app.option("--orphan", orphan_file, "File for the id of a process that is left behind");
  app.flag("--ignore-sigterm", ignore_sigterm, "Only SIGKILL ends it");
  app.flag("--mute", mute, "never answers");
  if (const auto status = app.parse(argc, argv)) return *status;

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
