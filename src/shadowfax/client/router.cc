#include "shadowfax/client/router.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "hybridlog/key_hash.h"

namespace turntable::shadowfax {
namespace {

constexpr std::int64_t kReopenNs = 5 * kMillisecondNs;

}  // namespace

class Router::Noticed final : public ClientSession::Replies {
 public:
  Noticed(ClientSession::Replies& to, Directory& directory) : to_(to), directory_(directory) {}

  void done(const Reply& reply, std::uint64_t context) override { to_.done(reply, context); }
  void pending() override { to_.pending(); }
  void recovered(Opcode opcode, std::uint64_t context) override { to_.recovered(opcode, context); }
  void batch_done(std::int64_t round_trip_ns) override { to_.batch_done(round_trip_ns); }
  void batch_refused() override { to_.batch_refused(); }
  void view_differs() override { directory_.look(); }

 private:
  ClientSession::Replies& to_;
  Directory& directory_;
};

Router::Router(const Settings& settings, Directory& directory)
    : settings_(settings), directory_(directory), state_(directory.newest()) {
  view_ = state_->view.number();
  for (const auto& [server, member] : state_->members) open(server, member);
}

ServerNumber Router::owner_of(std::uint64_t key) const noexcept {
  return state_->view.owner_of(hybridlog::hash_of(key));
}

void Router::open(ServerNumber server, const Member& at) {
  ClientSession::Settings session = settings_.session;
  session.address = at.address;
  session.port = at.ports.at(settings_.worker % at.ports.size());
  Peer& peer = peers_[server];
  peer.session = std::make_unique<ClientSession>(session);
  peer.session->set_view(view_);
}

bool Router::has_room(std::uint64_t key) const {
  const Peer& peer = peers_.at(owner_of(key));
  return !is_changing_ && !peer.is_lost && peer.session->has_room();
}

void Router::add(const Request& request, std::uint64_t context) {
  guarded(peers_.at(owner_of(request.key)),
          [&](ClientSession& session) { session.add(request, context); });
}

void Router::flush() {
  for (auto& [server, peer] : peers_)
    guarded(peer, [](ClientSession& session) { session.flush(); });
}

void Router::go_on(ClientSession::Replies& replies, int wait_ms) {
  Noticed noticed(replies, directory_);
  std::vector<pollfd> polled;
  for (const auto& [server, peer] : peers_) {
    if (peer.is_lost) continue;
    const bool is_blocked = peer.session->is_blocked();
    polled.push_back({.fd = peer.session->fd(),
                      .events = static_cast<short>(is_blocked ? POLLIN | POLLOUT : POLLIN),
                      .revents = 0});
  }
  ::poll(polled.data(), polled.size(), wait_ms);
  for (auto& [server, peer] : peers_) {
    if (peer.is_lost) {
      reopen(server, peer, noticed);
    } else {
      guarded(peer, [&](ClientSession& session) { session.receive(noticed); });
    }
  }
  follow();
}

std::size_t Router::outstanding() const noexcept {
  std::size_t all = 0;
  for (const auto& [server, peer] : peers_) all += peer.session->outstanding();
  return all;
}

std::map<ServerNumber, std::uint64_t> Router::committed() const {
  std::map<ServerNumber, std::uint64_t> all;
  for (const auto& [server, peer] : peers_) all[server] = peer.session->committed();
  return all;
}

// What was to be sent to a server that has gone waits in its session.
template <typename Step>
void Router::guarded(Peer& peer, const Step& step) {
  try {
    step(*peer.session);
  } catch (const SessionError&) {
    peer.is_lost = true;
    peer.again_ns = monotonic_ns() + kReopenNs;
    peer.session->hold(true);
    directory_.look();
  }
}

void Router::reopen(ServerNumber server, Peer& peer, ClientSession::Replies& replies) {
  if (monotonic_ns() < peer.again_ns) return;
  const Member at = directory_.newest()->members.at(server);
  try {
    peer.session->reopen(at.ports.at(settings_.worker % at.ports.size()), replies);
  } catch (const SessionError&) {
    peer.again_ns = monotonic_ns() + kReopenNs;
    directory_.look();  // it may have other ports by now
    return;
  }
  peer.is_lost = false;
  peer.session->set_view(view_);
  peer.session->hold(is_changing_);
  guarded(peer, [](ClientSession& session) { session.go_on(); });
}

void Router::follow() {
  const auto newest = directory_.newest();
  if (newest->view.number() == view_) return;
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
      peers_.erase(server);
      return;  // the next time
    }
  }
  state_ = std::make_shared<const ClusterState>(state);
  view_ = state.view.number();
  is_changing_ = false;
  std::vector<ClientSession::Unserved> all;
  for (auto& [server, peer] : peers_) {
    for (ClientSession::Unserved& each : peer.session->take_back()) all.push_back(each);
    peer.session->set_view(view_);
    peer.session->hold(peer.is_lost);
  }
  for (const ClientSession::Unserved& each : all) {
    guarded(peers_.at(owner_of(each.request.key)),
            [&](ClientSession& session) { session.add_again(each); });
  }
  flush();
}

}  // namespace turntable::shadowfax
