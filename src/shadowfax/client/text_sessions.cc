#include "shadowfax/client/text_sessions.h"

#include <algorithm>
#include <utility>

#include "hybridlog/key_hash.h"

namespace turntable::shadowfax {

TextSessions::TextSessions(std::unique_ptr<const TextProtocol> protocol, const Batching& batching,
                           const std::vector<ServerAddress>& servers, std::size_t thread)
    : protocol_(std::move(protocol)),
      view_(View::equal(static_cast<ServerNumber>(servers.size()))) {
  peers_.reserve(servers.size());
  for (const ServerAddress& server : servers) {
    peers_.push_back({.session = {*protocol_, batching, server.address, server.port_for(thread)}});
    sockets_.watch(this->servers() - 1, peers_.back().session.fd(), false);
  }
}

ServerNumber TextSessions::owner_of(std::uint64_t key) const noexcept {
  return peers_.size() == 1 ? 0 : view_.owner_of(hybridlog::hash_of(key));
}

std::size_t TextSessions::room() const noexcept {
  std::size_t least = SIZE_MAX;
  for (const Peer& peer : peers_) least = std::min(least, peer.is_lost ? 0 : peer.session.room());
  return least;
}

void TextSessions::add(const Request& request, std::span<const std::byte> /*rest*/,
                       std::uint64_t context) {
  guarded(peers_[owner_of(request.key)],
          [&](TextSession& session) { session.add(request, context); });
}

void TextSessions::flush() {
  for (Peer& peer : peers_) guarded(peer, [](TextSession& session) { session.flush(); });
}

void TextSessions::receive(Replies& replies) {
  sockets_.for_each_ready([&](ServerNumber server) {
    replies.from(server);
    guarded(peers_[server], [&](TextSession& session) { session.receive(replies); });
  });
}

void TextSessions::go_on(Replies& /*replies*/, std::int64_t /*now_ns*/) {
  for (ServerNumber server = 0; server < servers(); ++server) {
    Peer& peer = peers_[server];
    if (peer.is_lost || peer.session.is_blocked() == peer.is_watched_for_room) continue;
    peer.is_watched_for_room = peer.session.is_blocked();
    sockets_.change(server, peer.session.fd(), peer.is_watched_for_room);
  }
}

std::size_t TextSessions::outstanding() const noexcept {
  std::size_t all = 0;
  for (const Peer& peer : peers_) all += peer.session.outstanding();
  return all;
}

template <typename Step>
void TextSessions::guarded(Peer& peer, const Step& step) {
  if (peer.is_lost) return;
  try {
    step(peer.session);
  } catch (const SessionError& error) {
    sockets_.forget(peer.session.fd());
    peer.is_lost = true;
    ++lost_sessions_;
    if (lost_why_.empty()) lost_why_ = error.what();
  }
}

}  // namespace turntable::shadowfax
