// colocator: a resident node on the system under test. It runs memcached beside an aggressor, with
// what is to isolate them, and leaves nothing behind (docs/swan.md).
//
//   platform {}                                        what this machine is
//   probe    {"cpus" | "placement", "size_mb", "seconds", "key", "directory"}
//                                                      what it can show; the first one of a key is
//                                                      kept in the directory
//   prepare  {"placement", "isolation", "memcached", "aggressor"}
//   settle   {"deadline_s"}                            starts the aggressor
//   start    {"start_at_ns", "warmup_ns", "measure_ns", "drain_ns"}
//   finish   {"deadline_s"}                            ends the aggressor
//   stats, reset
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_server.h"
#include "swan/colocator_node.h"
#include "swan/guardian.h"
#include "swan/process_settings.h"
#include "swan/subreaper.h"

namespace turntable::swan {
namespace {

using Json = nlohmann::json;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

int run(int argc, char** argv) {
  ProgramOptions app("colocator", "A node that runs memcached beside an aggressor");
  std::string directory, python = "python3", name = "colocator";
  app.option("--directory", directory, "Run directory: the control socket and logs go here")
      .required();
  app.option("--name", name, "Name of the node").shows_default();
  app.option("--python", python, "Interpreter that {python} in an aggressor's command stands for")
      .shows_default();
  if (const auto status = app.parse(argc, argv)) return *status;
  node::ControlServer control(directory, name);
  ColocatorNode node({.program = std::filesystem::read_symlink("/proc/self/exe"),
                      .directory = std::filesystem::absolute(directory),
                      .python = python,
                      .testbed = variable("TURNTABLE_TESTBED"),
                      .host = variable("TURNTABLE_HOST")},
                     [&](std::string state) { control.set_state(std::move(state)); });
  control.on("platform", [&](const Json& args) { return node.platform(args); });
  control.on("probe", [&](const Json& args) { return node.probe(args); });
  control.on("prepare", [&](const Json& args) { return node.prepare(args); });
  control.on("settle", [&](const Json& args) { return node.settle(args); });
  control.on("start", [&](const Json& args) { return node.start(args); });
  control.on("finish", [&](const Json& args) { return node.finish(args); });
  control.on("stats", [&](const Json& args) { return node.stats(args); });
  control.on("reset", [&](const Json& args) { return node.reset(args); });
  control.on_shutdown([&] { node.cancel(); });
  control.run();
  return 0;
}

}  // namespace
}  // namespace turntable::swan

int main(int argc, char** argv) {
  using namespace turntable;
  // It starts itself for small tasks.
  const std::map<std::string, int (*)(const std::vector<std::string>&)> tasks = {
      {"guard", swan::guard}, {"enter", swan::enter}, {"subreap", swan::subreap}};
  if (const auto task = tasks.find(argc > 1 ? argv[1] : ""); task != tasks.end())
    return task->second({argv + 2, argv + argc});
  return run_main("colocator", [&] { return swan::run(argc, argv); });
}
