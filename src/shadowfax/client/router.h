// A client's sessions with all servers of a cluster: requests go to the owners of their keys, also
// while ranges move, and servers are killed and begun again.
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
#include <vector>

#include "shadowfax/client/client_session.h"
#include "shadowfax/client/directory.h"

namespace turntable::shadowfax {

// Of one thread.
class Router {
 public:
  struct Settings {
    ClientSession::Settings
        session{};           // address and port are the servers'; it keeps, and has an id
    std::size_t worker = 0;  // of every server, modulo their numbers
  };

  // Opens a session with every server that is there. directory: outlives it. Throws SessionError.
  Router(const Settings& settings, Directory& directory);

  std::uint64_t view() const noexcept { return view_; }
  bool has_room(std::uint64_t key) const;
  void add(const Request& request, std::uint64_t context = 0);
  void flush();
  // Waits up to `wait_ms` until something comes, takes it, and does what is to be done.
  void go_on(ClientSession::Replies& replies, int wait_ms);

  // Requests that were added and are not done.
  std::size_t outstanding() const noexcept;
  // By server: the number of the last request that it has for good.
  std::map<ServerNumber, std::uint64_t> committed() const;

 private:
  class Noticed;  // replies, of which the router notices one thing

  struct Peer {
    std::unique_ptr<ClientSession> session;
    bool is_lost = false;
    std::int64_t again_ns = 0;  // when it is opened again
  };

  ServerNumber owner_of(std::uint64_t key) const noexcept;
  void open(ServerNumber server, const Member& at);
  void reopen(ServerNumber server, Peer& peer, ClientSession::Replies& replies);
  void follow();
  void adopt(const ClusterState& state);
  template <typename Step>
  void guarded(Peer& peer, const Step& step);

  const Settings settings_;
  Directory& directory_;
  std::shared_ptr<const ClusterState> state_;  // whose view is used
  std::uint64_t view_ = 0;
  bool is_changing_ = false;
  std::map<ServerNumber, Peer> peers_;
};

}  // namespace turntable::shadowfax
