// The listening end of connections between nodes of a run.
//
//   accepted --proof--> session, in place of an older one of the same node
//      |                   (a restarted node gets in although its old connection seems to live)
//      +-- wrong proof, silence, an older incarnation: refused and counted
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "messages/channel.h"

namespace turntable::messages {

// Lives on the loop's thread.
class SessionListener {
 public:
  using SessionId = std::uint64_t;  // of one connection; never used again

  struct Refusals {
    std::uint64_t unproven = 0;  // did not know the secret, or spoke another protocol
    std::uint64_t silent = 0;    // ended, or said nothing in time, before the proof
    std::uint64_t older = 0;     // of a node whose newer incarnation has been here
  };

  // Throws std::runtime_error that names the address when it cannot be bound.
  SessionListener(net::EventLoop& loop, const sockaddr_in& address, net::Credentials credentials,
                  std::function<void(SessionId, Frame)> on_frame,
                  std::function<void(SessionId)> on_closed);
  ~SessionListener();
  SessionListener(const SessionListener&) = delete;
  SessionListener& operator=(const SessionListener&) = delete;

  // To a session that has gone: nothing.
  template <Message M>
  void send(SessionId session, const M& message) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end()) found->second->send(message);
  }

  // Ends all sessions but those, without on_closed: what they have sent and nobody has read is
  // lost.
  template <typename IsKept>
  void keep_only(const IsKept& is_kept) {
    std::erase_if(sessions_, [&](const auto& session) {
      return !unproven_.contains(session.first) && !is_kept(session.first);
    });
  }

  // Ends every connection, without on_closed: the others will connect again and ask again.
  void disconnect_all() { sessions_.clear(), unproven_.clear(); }

  std::uint16_t port() const;  // useful after port 0 was asked for
  std::size_t sessions() const { return sessions_.size(); }
  const Refusals& refusals() const { return refusals_; }
  std::uint64_t failed_accepts() const { return failed_accepts_; }

 private:
  struct Newest {  // of a node
    net::Incarnation incarnation;
    SessionId session;
  };

  void accept();
  std::string admit(SessionId session, const net::Identity& identity);
  void make_room();
  void ended(SessionId session);
  void pause();

  net::EventLoop& loop_;
  UniqueFd socket_;
  std::function<void(SessionId, Frame)> on_frame_;
  std::function<void(SessionId)> on_closed_;
  const net::Credentials credentials_;
  std::map<SessionId, std::unique_ptr<Channel>> sessions_;
  std::map<std::string, Newest> nodes_;
  std::map<SessionId, in_addr_t> unproven_;  // the oldest first, with their addresses
  Refusals refusals_;
  const std::shared_ptr<char> alive_ = std::make_shared<char>();  // for timers that come late
  SessionId next_session_ = 1;
  std::uint64_t failed_accepts_ = 0;
  net::Timers::TimerId accept_again_ = 0;
};

}  // namespace turntable::messages
