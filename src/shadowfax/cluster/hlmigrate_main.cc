// hlmigrate: moves a range of keys from one hlserver of a cluster to another one, or shows who owns
// what.

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "common/program_options.h"
#include "common/run_main.h"
#include "net/credentials.h"
#include "net/ipv4.h"
#include "shadowfax/cluster/asking.h"

namespace {

using namespace turntable;
using namespace turntable::shadowfax;

constexpr double kPatienceSeconds = 30;
constexpr std::chrono::milliseconds kBetweenLooks{20};

void show(const ClusterState& state) {
  std::cout << "view " << state.view.number() << "\n";
  for (const auto& [server, member] : state.members) {
    double share = 0;
    for (const auto& range : state.view.ranges_of(server))
      share += std::ldexp(static_cast<double>(range.last - range.first), -64);
    std::cout << "server " << server << " at " << member.address << " owns " << 100 * share
              << " % of the hashes\n";
  }
  for (const Unresolved& each : state.unresolved) {
    std::cout << "server " << each.target << " points into the log of server " << each.source
              << ", since migration " << each.id << "\n";
  }
  if (!state.migration) return;
  std::cout << "migration " << state.migration->id << " from server " << state.migration->source
            << " to " << state.migration->target << ": "
            << (state.migration->phase == Migration::Phase::kOwned ? "owned by the target"
                                                                   : "prepared")
            << "\n";
}

const Member& member_of(const ClusterState& state, ServerNumber server) {
  const auto member = state.members.find(server);
  if (member == state.members.end())
    throw Refusal("server " + std::to_string(server) + " has never been there");
  return member->second;
}

// Returns the state in which the server points to nothing.
ClusterState resolve_all(Asking& metadata, ClusterState state, ServerNumber server,
                         net::Credentials credentials) {
  const Member& member = member_of(state, server);
  const Deadline deadline = Deadline::after_seconds(kPatienceSeconds);
  Asking("server " + std::to_string(server),
         net::parse_ipv4("server", member.address, member.peer_port), std::move(credentials))
      .ask(ClusterMessageType::kResolve, nlohmann::json::object(), deadline);
  while (state.has_unresolved(server)) {
    if (deadline.passed()) {
      throw NoAnswer("server " + std::to_string(server) +
                     " still pulls what it points to; look again with the same command");
    }
    // waits: between two looks at the metadata service
    std::this_thread::sleep_for(kBetweenLooks);
    state = state_of(metadata.ask(ClusterMessageType::kGet, nlohmann::json::object(), deadline));
  }
  return state;
}

int run(int argc, char** argv) {
  ProgramOptions app("hlmigrate",
                     "Moves keys between hlservers; without --from: shows who has what");
  std::string metadata, secret;
  ServerNumber from = 0, to = 0;
  constexpr double kLeastShare = 1e-6;
  double share = 0.1, sample_s = 0;
  bool cancel = false, indirection = false, no_indirection = false;
  ServerNumber resolving = 0;
  app.option("--metadata", metadata, "HOST:PORT of hlmeta").required();
  app.option("--secret", secret, "File with the secret of the cluster").required();
  const auto source = app.option("--from", from, "Number of the server that gives");
  app.option("--to", to, "Number of the server that takes").needs(source);
  app.option("--share", share, "Of what the first range of the server has, from its begin on")
      .within(kLeastShare, 1)
      .shows_default();
  app.option(
         "--sample-s", sample_s,
         "So long hot keys are sought first, which the taker has from the first moment on; 0: not")
      .within(0, 3600)
      .shows_default();
  const auto with =
      app.flag("--indirection", indirection,
               "The giver says of chains that go on on its device where: the taker asks for them");
  app.flag("--no-indirection", no_indirection,
           "The giver sends all records, as it always does else")
      .excludes(with);
  const auto resolve = app.option("--resolve", resolving,
                                  "Number of a server, which pulls what it has to ask others for: "
                                  "waits until it has all");
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
  if (resolve.given()) state = resolve_all(asking, state, resolving, credentials("server "));
  if (!source.given()) {
    show(state);
    return 0;
  }
  const Member& member = member_of(state, from);
  const auto range = state.view.share_of(from, share);
  if (!range) throw Refusal("server " + std::to_string(from) + " owns nothing");
  Asking server("server " + std::to_string(from),
                net::parse_ipv4("server", member.address, member.peer_port),
                credentials("server "));
  const auto begun = server.ask(ClusterMessageType::kMigrate,
                                {{"id", state.next_id()},
                                 {"first", range->first},
                                 {"last", range->last},
                                 {"target", to},
                                 {"sample_s", sample_s},
                                 {"indirection", indirection}},
                                deadline);
  std::cout << "migration " << begun.at("id") << " of hashes " << range->first << " to "
            << range->last << " has begun" << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("hlmigrate", [&] { return run(argc, argv); });
}
