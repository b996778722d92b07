// A client's sessions with all servers: requests go to the owners of their keys.
//
// Servers are given, and own equal ranges for good; or a metadata service knows who owns what
// (client/directory.h), ranges move, and servers are killed and begun again:
//
//   [steady] --the metadata service has a newer view--> [changing] --nothing is under way-->
//   [steady]
//
// While the view changes nothing new is sent: a batch is of one view. Then all that no server has
// served is dealt to the owners anew. Of what a server has served nothing is sent to another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shadowfax/client/client_session.h"
#include "shadowfax/client/directory.h"
#include "shadowfax/client/load_settings.h"
#include "shadowfax/client/sessions.h"
#include "shadowfax/client/watched_sockets.h"

namespace turntable::shadowfax {

class Router final : public Sessions {
 public:
  struct Settings {
    // Address and port are the servers'. With a directory it keeps, and has an id.
    ClientSession::Settings session{};
    std::size_t worker = 0;  // of every server, modulo their numbers
  };

  // Opens a session with every server. Throws SessionError.
  Router(const Settings& settings, const std::vector<ServerAddress>& servers);
  // ... that is there now. directory: outlives it.
  Router(const Settings& settings, Directory& directory);

  ServerNumber servers() const noexcept override { return peers_.rbegin()->first + 1; }
  std::uint64_t view() const noexcept { return view_; }
  bool has_room(std::uint64_t key) const noexcept override {
    const Peer& peer = owner_of(key);
    return !is_changing_ && !peer.is_lost && peer.session->has_room();
  }
  std::size_t room() const noexcept override;
  void add(const Request& request, std::uint64_t context = 0) { add(request, {}, context); }
  void add(const Request& request, std::span<const std::byte> rest, std::uint64_t context) override;
  void flush() override;

  int fd() const noexcept override { return sockets_.fd(); }
  int look() noexcept override { return sockets_.look(); }
  void receive(Replies& replies) override;
  // After pauses, of views, sessions that are opened again.
  void go_on(Replies& replies, std::int64_t now_ns) override;
  std::int64_t next_due_ns() const noexcept override;

  std::size_t outstanding() const noexcept override;
  bool is_idle() const noexcept override;
  std::uint64_t unreplayed() const noexcept override;
  // By server: the number of the last request that it has for good.
  std::map<ServerNumber, std::uint64_t> committed() const;

  // With a directory those alone that cannot be opened again.
  std::size_t lost_sessions() const noexcept override { return lost_sessions_; }
  const std::string& lost_why() const noexcept override { return lost_why_; }

 private:
  class Noticed;  // replies, of which the router notices one thing

  struct Peer {
    std::unique_ptr<ClientSession> session;
    bool is_lost = false;
    bool is_watched_for_room = false;
    std::int64_t again_ns = 0;  // when it is opened again
  };
  // From this hash on, up to the next one's.
  struct Part {
    std::uint64_t first;
    Peer* owner;
  };

  const Peer& owner_of(std::uint64_t key) const noexcept;
  Peer& owner_of(std::uint64_t key) noexcept {
    return const_cast<Peer&>(std::as_const(*this).owner_of(key));
  }
  void open(ServerNumber server, const Member& at);
  void reopen(ServerNumber server, Peer& peer, ClientSession::Replies& replies);
  void note_lost(Peer& peer, const std::string& why);
  void follow();
  void adopt(const ClusterState& state);
  void use(const View& view);
  template <typename Step>
  void guarded(Peer& peer, const Step& step);

  const Settings settings_;
  Directory* const directory_;  // null: there is none
  WatchedSockets sockets_;
  std::uint64_t view_ = 0;  // that is used
  bool is_changing_ = false;
  std::int64_t adopt_again_ns_ = 0;  // of a view with a server that was not there; 0: none
  std::map<ServerNumber, Peer> peers_;
  std::vector<Part> parts_;  // of the view
  std::size_t lost_sessions_ = 0;
  std::string lost_why_;
};

// With the servers that the settings name.
std::unique_ptr<Router> open_router(const Servers& servers, const Batching& batching,
                                    std::size_t worker);

}  // namespace turntable::shadowfax
