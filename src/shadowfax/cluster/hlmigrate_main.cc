// hlmigrate: moves a range of keys from one hlserver of a cluster to another one, or shows who owns
// what.

#include <unistd.h>

#include <cmath>
#include <iostream>
#include <optional>
#include <string>

#include "common/program_options.h"
#include "common/run_main.h"
#include "net/credentials.h"
#include "net/ipv4.h"
#include "shadowfax/cluster/asking.h"

namespace {

using namespace turntable;
using namespace turntable::shadowfax;

constexpr double kPatienceSeconds = 30;

void show(const ClusterState& state) {
  std::cout << "view " << state.view.number() << "\n";
  for (const auto& [server, member] : state.members) {
    double share = 0;
    for (const auto& range : state.view.ranges_of(server))
      share += std::ldexp(static_cast<double>(range.last - range.first), -64);
    std::cout << "server " << server << " at " << member.address << " owns " << 100 * share
              << " % of the hashes\n";
  }
  if (!state.migration) return;
  std::cout << "migration " << state.migration->id << " from server " << state.migration->source
            << " to " << state.migration->target << ": "
            << (state.migration->phase == Migration::Phase::kOwned ? "owned by the target"
                                                                   : "prepared")
            << "\n";
}

int run(int argc, char** argv) {
  ProgramOptions app("hlmigrate",
                     "Moves keys between hlservers; without --from: shows who has what");
  std::string metadata, secret;
  ServerNumber from = 0, to = 0;
  double share = 0.1, sample_s = 0;
  bool cancel = false;
  app.option("--metadata", metadata, "HOST:PORT of hlmeta").required();
  app.option("--secret", secret, "File with the secret of the cluster").required();
  const auto source = app.option("--from", from, "Number of the server that gives");
  app.option("--to", to, "Number of the server that takes").needs(source);
  app.option("--share", share, "Of what the first range of the server has, from its begin on")
      .within(0, 1)
      .shows_default();
  app.option(
         "--sample-s", sample_s,
         "So long hot keys are sought first, which the taker has from the first moment on; 0: not")
      .within(0, 3600)
      .shows_default();
  app.flag("--cancel", cancel, "Ends a migration whose target does not own the range yet");
  if (const auto status = app.parse(argc, argv)) return *status;
  const std::string own = std::to_string(::getpid());
  const auto credentials = [&](const std::string& name) {
    return net::Credentials::from_file(secret, "hlmigrate", name + own);
  };
  const Deadline deadline = Deadline::after_seconds(kPatienceSeconds);
  Asking asking("the metadata service", net::parse_endpoint("--metadata", metadata),
                credentials("metadata "));
  ClusterState state =
      state_of(asking.ask(ClusterMessageType::kGet, nlohmann::json::object(), deadline));
  if (cancel && state.migration) {
    state =
        state_of(asking.ask(ClusterMessageType::kCancel, {{"id", state.migration->id}}, deadline));
  }
  if (!source.given()) {
    show(state);
    return 0;
  }
  const auto member = state.members.find(from);
  if (member == state.members.end())
    throw Refusal("server " + std::to_string(from) + " has never been there");
  const auto range = state.view.share_of(from, share);
  if (!range) throw Refusal("server " + std::to_string(from) + " owns nothing");
  Asking server("server " + std::to_string(from),
                net::parse_ipv4("server", member->second.address, member->second.peer_port),
                credentials("server "));
  const auto begun = server.ask(
      ClusterMessageType::kMigrate,
      {{"first", range->first}, {"last", range->last}, {"target", to}, {"sample_s", sample_s}},
      deadline);
  std::cout << "migration " << begun.at("id") << " of hashes " << range->first << " to "
            << range->last << " has begun" << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlmigrate", [&] { return run(argc, argv); });
}
