// supervisor: owns the nodes of one host; docs/architecture.md §2.
#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/command_error.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_client.h"
#include "node/daemonize.h"
#include "node/host_lock.h"
#include "node/supervisor.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

enum ExitStatus { kOk = 0, kInUse = 3, kDismissed = 4 };

constexpr double kReadyDeadlineS = 10;
constexpr double kSettledDeadlineS = 5;
constexpr std::chrono::milliseconds kProbeInterval(5);

Json ask_supervisor(const std::filesystem::path& directory, const std::string& command,
                    const Json& args) {
  ControlClient::CallOptions options;
  options.deadline = Deadline::after_seconds(kReadyDeadlineS);
  return ControlClient(directory, "supervisor").call(command, args, options);
}

void run_in_background(const SupervisorOptions& options, HostLock lock) {
  const int lock_fd = lock.fd();
  daemonize(options.directory / "supervisor.log", lock_fd, [&](const auto& ready) {
    Supervisor supervisor(options, std::move(lock));
    ready();
    supervisor.run();
  });
  ask_supervisor(options.directory, "ping", Json::object());
}

// Somebody holds this host. The same owner asking again only renews the lease.
int answer_in_use(const SupervisorOptions& options, const Json& holder) {
  if (holder["answers"] == true && holder["owner"].is_object() &&
      holder["owner"] == options.owner) {
    ask_supervisor(options.directory, "renew",
                   {{"lease_s", options.lease_s}, {"owner", options.owner}});
    return kOk;
  }
  std::cout << holder.dump() << std::endl;
  return kInUse;
}

bool was_dismissed(const SupervisorOptions& options, const HostLock& lock) {
  const Json before = lock.read();
  return options.owner.is_object() && before.is_object() &&
         before.value("dismissed", Json()) == options.owner;
}

// A holder that does not answer may be on its way in or out: the kernel gives the lock of a killed
// supervisor back only when the last of its threads is gone.
int serve(const SupervisorOptions& options, bool in_background) {
  const Deadline settled = Deadline::after_seconds(kSettledDeadlineS);
  while (true) {
    if (auto lock = HostLock::try_take(options.directory)) {
      if (was_dismissed(options, *lock)) return kDismissed;
      if (in_background) {
        run_in_background(options, std::move(*lock));
      } else {
        Supervisor(options, std::move(*lock)).run();
      }
      return kOk;
    }
    const Json holder = holder_of(options.directory);
    if (holder["held"] == false) continue;
    if (holder["answers"] == true || settled.passed()) return answer_in_use(options, holder);
    std::this_thread::sleep_for(kProbeInterval);  // waits: interval of a probe with a deadline
  }
}

int show_holder(const std::filesystem::path& directory) {
  std::cout << holder_of(directory).dump() << std::endl;
  return kOk;
}

Json parse_owner(const std::string& text) {
  if (text.empty()) return nullptr;
  Json owner = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!owner.is_object()) throw bad_argument("--owner " + text + ": expected a JSON object");
  return owner;
}

}  // namespace
}  // namespace turntable::node

namespace {

int run_program(int argc, char** argv) {
  using namespace turntable::node;
  SupervisorOptions options;
  std::string owner;
  bool in_background = false;
  bool holder = false;
  turntable::ProgramOptions app("supervisor", "Starts, watches and ends the nodes of one host");
  app.option("--directory", options.directory, "Run directory; made if it does not exist")
      .required();
  const auto only_show = app.flag("--holder", holder, "Say who holds the directory, start nothing");
  const auto setting = [&](turntable::ProgramOptions::Option option) {
    option.excludes(only_show);
  };
  setting(app.option("--testbed", options.identity.testbed, "Id of the testbed"));
  setting(app.option("--host", options.identity.host, "Name of this host"));
  setting(
      app.option("--lease", options.lease_s, "Seconds without `renew` after which everything ends")
          .seconds());
  setting(app.option("--owner", owner, "JSON object that says whose run it is"));
  setting(app.flag("--daemonize", in_background, "Return when the control socket answers"));
  if (const auto status = app.parse(argc, argv)) return *status;
  if (holder) return show_holder(options.directory);
  if (options.identity.testbed.empty() || options.identity.host.empty() || options.lease_s == 0)
    throw turntable::bad_argument("--testbed, --host and --lease are required");
  options.owner = parse_owner(owner);
  std::filesystem::create_directories(options.directory);
  // Control sockets and logs are its owner's alone, whatever the umask.
  std::filesystem::permissions(options.directory, std::filesystem::perms::owner_all);
  options.directory = std::filesystem::canonical(options.directory);
  return serve(options, in_background);
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("supervisor", [&] { return run_program(argc, argv); });
}
