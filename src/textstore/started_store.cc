#include "textstore/started_store.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/command_error.h"
#include "common/deadline.h"
#include "node/log_tail.h"

namespace turntable::textstore {
namespace {

constexpr int kProbeMs = 2;

}  // namespace

std::string installed_program(const std::string& program, const std::string& package) {
  const std::filesystem::path found = node::find_program(program);
  if (!found.empty()) return found;
  throw CommandError("unavailable", program + " is not in PATH; expected Debian's package " +
                                        package +
                                        ": `make setup` or playbooks/provision.yml installs it");
}

std::unique_ptr<node::Child> start_store(node::Children& children, const StoreCommand& store,
                                         const std::filesystem::path& log,
                                         const std::function<bool(pid_t)>& answers) {
  const std::uint64_t log_begin = node::log_size(log);
  std::unique_ptr<node::Child> child;
  try {
    child =
        children.start({.argv = store.command, .environment = {}, .log_file = log, .input = {}});
  } catch (const std::system_error& error) {
    throw CommandError("unavailable", store.name + ": " + error.what());
  }
  const Deadline deadline = Deadline::after_seconds(store.timeout_s);
  while (!answers(child->pid())) {
    const bool ended = child->wait(Deadline::after(std::chrono::milliseconds(kProbeMs)));
    if (!ended && !deadline.passed()) continue;
    throw CommandError("unavailable",
                       store.name + " " +
                           (ended ? child->end() : std::string("did not answer in time")) +
                           ": expected it to listen at " + store.listens_at + " within " +
                           nlohmann::json(store.timeout_s).dump() +
                           " s; is the address this host's, and free? Its log " + log.native() +
                           " ends with\n" + node::log_tail(log, log_begin));
  }
  return child;
}

}  // namespace turntable::textstore
