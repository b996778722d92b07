#include "shadowfax/client/router.h"

#include <algorithm>
#include <iterator>
#include <random>

#include "common/clock.h"
#include "hybridlog/key_hash.h"

namespace turntable::shadowfax {
namespace {

constexpr std::int64_t kReopenNs = 5 * kMillisecondNs;
// Of a session's batches that are kept until they are committed; with more it waits. The original's
// buffer of 32 MiB is of what is not acknowledged: until a checkpoint comes that is much more.
constexpr std::size_t kKeptBytes = std::size_t{256} << 20U;

hybridlog::SessionId drawn_session_id() {
  std::random_device random;
  const auto drawn = [&] { return std::uint64_t{random()} << 32U | random(); };
  return {.high = drawn(), .low = drawn() | 1U};
}

// Who knows the secret of a metadata service knows that of its servers.
Router::Settings with_credentials(Router::Settings settings, const Directory& directory) {
  settings.session.credentials = directory.credentials();
  return settings;
}

}  // namespace

class Router::Noticed final : public ClientSession::Replies {
 public:
  Noticed(Sessions::Replies& to, Directory* directory) : to_(to), directory_(directory) {}

  void done(const Reply& reply, std::uint64_t context) override { to_.done(reply, context); }
  void pending() override { to_.pending(); }
  void recovered(Opcode opcode, std::uint64_t context) override { to_.recovered(opcode, context); }
  void lost_acknowledged(const Reply& reply) override { to_.lost_acknowledged(reply); }
  void batch_done(std::int64_t round_trip_ns) override { to_.batch_done(round_trip_ns); }
  void batch_refused() override { to_.batch_refused(); }
  void view_differs() override {
    if (directory_ == nullptr) ClientSession::Replies::view_differs();
    to_.batch_refused();
    directory_->look();
  }

 private:
  Sessions::Replies& to_;
  Directory* const directory_;
};

Router::Router(const Settings& settings, const std::vector<ServerAddress>& servers)
    : settings_(settings), directory_(nullptr) {
  for (ServerNumber server = 0; server < servers.size(); ++server)
    open(server, {.address = servers[server].address, .ports = servers[server].ports});
  use(View::equal(static_cast<ServerNumber>(servers.size())));
}

Router::Router(const Settings& settings, Directory& directory)
    : settings_(with_credentials(settings, directory)), directory_(&directory) {
  const auto state = directory.newest();
  for (const auto& [server, member] : state->members) open(server, member);
  for (const auto& part : state->view.parts()) {
    if (peers_.contains(part.owner)) continue;
    throw SessionError("server " + std::to_string(part.owner) +
                       " owns keys and has never been there; expected all servers to be begun");
  }
  use(state->view);
  for (auto& [server, peer] : peers_) peer.session->set_view(view_);
}

const Router::Peer& Router::owner_of(std::uint64_t key) const noexcept {
  if (parts_.size() == 1) return *parts_.front().owner;
  const std::uint64_t hash = hybridlog::hash_of(key);
  const auto behind =
      std::upper_bound(parts_.begin(), parts_.end(), hash,
                       [](std::uint64_t wanted, const Part& part) { return wanted < part.first; });
  return *std::prev(behind)->owner;
}

void Router::use(const View& view) {
  view_ = view.number();
  parts_.clear();
  for (const auto& part : view.parts()) parts_.push_back({part.first, &peers_.at(part.owner)});
}

void Router::open(ServerNumber server, const Member& at) {
  ClientSession::Settings session = settings_.session;
  session.address = at.address;
  session.port = at.ports.at(settings_.worker % at.ports.size());
  Peer peer{.session = std::make_unique<ClientSession>(session)};
  sockets_.watch(server, peer.session->fd(), false);
  peers_[server] = std::move(peer);
}

std::size_t Router::room() const noexcept {
  if (is_changing_) return 0;
  std::size_t least = SIZE_MAX;
  for (const Part& part : parts_)
    least = std::min(least, part.owner->is_lost ? 0 : part.owner->session->room());
  return least;
}

void Router::add(const Request& request, std::span<const std::byte> rest, std::uint64_t context) {
  guarded(owner_of(request.key),
          [&](ClientSession& session) { session.add(request, rest, context); });
}

void Router::flush() {
  for (auto& [server, peer] : peers_)
    guarded(peer, [](ClientSession& session) { session.flush(); });
}

void Router::receive(Replies& replies) {
  Noticed noticed(replies, directory_);
  sockets_.for_each_ready([&](ServerNumber server) {
    replies.from(server);
    guarded(peers_.at(server), [&](ClientSession& session) { session.receive(noticed); });
  });
}

void Router::go_on(Replies& replies, std::int64_t now_ns) {
  Noticed noticed(replies, directory_);
  for (auto& [server, peer] : peers_) {
    if (peer.is_lost) {
      if (directory_ != nullptr && now_ns >= peer.again_ns) {
        replies.from(server);
        reopen(server, peer, noticed);
      }
    } else if (peer.session->pause_ends_ns() <= now_ns) {
      guarded(peer, [](ClientSession& session) { session.go_on(); });
    }
  }
  if (directory_ != nullptr) follow();
  for (auto& [server, peer] : peers_) {
    if (peer.is_lost || peer.session->is_blocked() == peer.is_watched_for_room) continue;
    peer.is_watched_for_room = peer.session->is_blocked();
    sockets_.change(server, peer.session->fd(), peer.is_watched_for_room);
  }
}

std::int64_t Router::next_due_ns() const noexcept {
  std::int64_t due_ns = is_changing_ && adopt_again_ns_ > 0 ? adopt_again_ns_ : INT64_MAX;
  for (const auto& [server, peer] : peers_) {
    if (!peer.is_lost) {
      due_ns = std::min(due_ns, peer.session->pause_ends_ns());
    } else if (directory_ != nullptr) {
      due_ns = std::min(due_ns, peer.again_ns);
    }
  }
  return due_ns;
}

std::size_t Router::outstanding() const noexcept {
  std::size_t all = 0;
  for (const auto& [server, peer] : peers_) all += peer.session->outstanding();
  return all;
}

bool Router::is_idle() const noexcept {
  return std::ranges::all_of(peers_, [](const auto& each) {
    return !each.second.is_lost && each.second.session->is_idle();
  });
}

std::uint64_t Router::unreplayed() const noexcept {
  std::uint64_t all = 0;
  for (const auto& [server, peer] : peers_) all += peer.session->unreplayed(peer.is_lost);
  return all;
}

std::map<ServerNumber, std::uint64_t> Router::committed() const {
  std::map<ServerNumber, std::uint64_t> all;
  for (const auto& [server, peer] : peers_) all[server] = peer.session->committed();
  return all;
}

// What was to be sent to a server that has gone waits in its session, and is sent again if it comes
// back.
template <typename Step>
void Router::guarded(Peer& peer, const Step& step) {
  try {
    if (peer.is_lost && directory_ == nullptr) return;
    step(*peer.session);
  } catch (const SessionError& error) {
    if (!peer.is_lost) sockets_.forget(peer.session->fd());
    peer.is_lost = true;
    peer.session->hold(true);
    if (directory_ != nullptr) {
      peer.again_ns = monotonic_ns() + kReopenNs;
      directory_->look();
      return;
    }
    note_lost(peer, error.what());
  }
}

// For good.
void Router::note_lost(Peer& peer, const std::string& why) {
  peer.again_ns = INT64_MAX;
  ++lost_sessions_;
  if (lost_why_.empty()) lost_why_ = why;
}

void Router::reopen(ServerNumber server, Peer& peer, ClientSession::Replies& replies) {
  const Member at = directory_->newest()->members.at(server);
  try {
    peer.session->reopen(at.ports.at(settings_.worker % at.ports.size()), replies);
  } catch (const LostSession& error) {
    note_lost(peer, error.what());
    return;
  } catch (const SessionError&) {
    peer.again_ns = monotonic_ns() + kReopenNs;
    directory_->look();  // it may have other ports by now
    return;
  }
  peer.is_watched_for_room = peer.session->is_blocked();
  sockets_.watch(server, peer.session->fd(), peer.is_watched_for_room);
  peer.is_lost = false;
  peer.session->set_view(view_);
  peer.session->hold(is_changing_);
  guarded(peer, [](ClientSession& session) { session.go_on(); });
}

void Router::follow() {
  const auto newest = directory_->newest();
  if (newest->view.number() <= view_ || monotonic_ns() < adopt_again_ns_) return;
  is_changing_ = true;
  for (auto& [server, peer] : peers_) peer.session->hold(true);
  const auto waits = [](const auto& each) { return each.second.session->awaits_replies(); };
  if (std::none_of(peers_.begin(), peers_.end(), waits)) adopt(*newest);
}

void Router::adopt(const ClusterState& state) {
  for (const auto& [server, member] : state.members) {
    if (peers_.contains(server)) continue;
    try {
      open(server, member);
    } catch (const SessionError&) {
      adopt_again_ns_ = monotonic_ns() + kReopenNs;
      directory_->look();  // it may have other ports by now
      return;
    }
  }
  use(state.view);
  is_changing_ = false;
  adopt_again_ns_ = 0;
  std::vector<ClientSession::Unserved> all;
  for (auto& [server, peer] : peers_) {
    for (ClientSession::Unserved& each : peer.session->take_back()) all.push_back(each);
    peer.session->set_view(view_);
    peer.session->hold(peer.is_lost);
  }
  for (const ClientSession::Unserved& each : all) {
    guarded(owner_of(each.request.key), [&](ClientSession& session) { session.add_again(each); });
  }
  flush();
}

std::unique_ptr<Router> open_router(const Servers& servers, const Batching& batching,
                                    std::size_t worker) {
  Router::Settings settings{.session = {.batch_requests = batching.batch_requests,
                                        .pipeline = batching.pipeline,
                                        .value_bytes = batching.value_bytes,
                                        .credentials = servers.credentials},
                            .worker = worker};
  if (servers.directory == nullptr) return std::make_unique<Router>(settings, servers.given);
  const std::size_t batch_bytes =
      RequestHeader::kBytes + batching.batch_requests * Sizes(batching.value_bytes).request();
  settings.session.most_kept = std::max(2 * batching.pipeline, kKeptBytes / batch_bytes);
  settings.session.id = drawn_session_id();
  return std::make_unique<Router>(settings, *servers.directory);
}

}  // namespace turntable::shadowfax
