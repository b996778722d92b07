// A client's connections to stores of memcached or Redis: a request goes to the server that owns
// its key's hash, of equal ranges. A connection that ends is lost for good: it has no numbers by
// which requests could be sent again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shadowfax/client/text_session.h"
#include "shadowfax/client/watched_sockets.h"

namespace turntable::shadowfax {

class TextSessions final : public Sessions {
 public:
  // One with every server, at the port for this thread. Throws SessionError.
  TextSessions(std::unique_ptr<const TextProtocol> protocol, const Batching& batching,
               const std::vector<ServerAddress>& servers, std::size_t thread);

  ServerNumber servers() const noexcept override {
    return static_cast<ServerNumber>(peers_.size());
  }
  bool has_room(std::uint64_t key) const noexcept override {
    const Peer& peer = peers_[owner_of(key)];
    return !peer.is_lost && peer.session.room() > 0;
  }
  std::size_t room() const noexcept override;
  void add(const Request& request, std::span<const std::byte> rest, std::uint64_t context) override;
  void flush() override;

  int fd() const noexcept override { return sockets_.fd(); }
  int look() noexcept override { return sockets_.look(); }
  void receive(Replies& replies) override;
  void go_on(Replies& replies, std::int64_t now_ns) override;
  std::int64_t next_due_ns() const noexcept override { return INT64_MAX; }

  std::size_t outstanding() const noexcept override;
  bool is_idle() const noexcept override { return lost_sessions_ == 0 && outstanding() == 0; }
  std::uint64_t unreplayed() const noexcept override { return 0; }  // nothing is ever sent again
  std::size_t lost_sessions() const noexcept override { return lost_sessions_; }
  const std::string& lost_why() const noexcept override { return lost_why_; }

 private:
  struct Peer {
    TextSession session;
    bool is_lost = false;
    bool is_watched_for_room = false;
  };

  ServerNumber owner_of(std::uint64_t key) const noexcept;
  template <typename Step>
  void guarded(Peer& peer, const Step& step);

  const std::unique_ptr<const TextProtocol> protocol_;
  const View view_;
  WatchedSockets sockets_;
  std::vector<Peer> peers_;
  std::size_t lost_sessions_ = 0;
  std::string lost_why_;
};

}  // namespace turntable::shadowfax
