// A thread's sessions with the servers of a store, whatever they speak: requests are issued in
// batches, and their answers are taken when they have come.
//
//   add() -> [batch] --full, or flush()--> [under way, at most `pipeline`] --answers--> done()
//
// Shadowfax's own are client/router.h; client/text_sessions.h has those of memcached and Redis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "shadowfax/cluster/view.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

// The server cannot be reached, has gone, or says what means nothing.
class SessionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A server has lost what it had acknowledged.
class LostRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Of a reply to such a request, when it was sent again.
std::string why_lost(ReplyStatus status);

// A session cannot be opened again: its server has less of it than it must have.
class LostSession : public SessionError {
 public:
  using SessionError::SessionError;
};

// Of one thread.
class Sessions {
 public:
  // Takes what was answered. A request is done when its reply is not kPending.
  class Replies {
   public:
    virtual ~Replies() = default;
    // What is told next comes from this server.
    virtual void from(ServerNumber /*server*/) {}
    // context: as given with the request. The reply's bytes are gone when this returns.
    virtual void done(const Reply& reply, std::uint64_t context) = 0;
    // The server's words for why it does not do the request that is done next.
    virtual void refused(std::string_view /*why*/) {}
    virtual void pending() {}
    // The store has the request, and its reply was lost with the connection. It is done, too.
    virtual void recovered(Opcode /*opcode*/, std::uint64_t /*context*/) {}
    // A request that was done before was lost with a server that was killed, and the next server
    // cannot do it, for this reason: it is lost for good. Whoever does not expect that cannot go
    // on.
    virtual void lost_acknowledged(const Reply& reply) {
      throw LostRequest(why_lost(reply.status));
    }
    virtual void batch_done(std::int64_t /*round_trip_ns*/) {}  // after all of its requests
    virtual void batch_refused() {}
  };

  virtual ~Sessions() = default;

  // Servers have numbers below it.
  virtual ServerNumber servers() const noexcept = 0;
  virtual bool has_room(std::uint64_t key) const noexcept = 0;
  // For how many requests there is room, whichever keys they have.
  virtual std::size_t room() const noexcept = 0;
  // rest: of its value, behind the first 8 bytes.
  virtual void add(const Request& request, std::span<const std::byte> rest,
                   std::uint64_t context) = 0;
  // Sends batches that are not full as well, as soon as fewer than `pipeline` are under way.
  virtual void flush() = 0;

  // Readable when there is something to be taken.
  virtual int fd() const noexcept = 0;
  // Of how many sessions; receive() takes it.
  virtual int look() noexcept = 0;
  virtual void receive(Replies& replies) = 0;
  // Does what is to be done at this instant.
  virtual void go_on(Replies& replies, std::int64_t now_ns) = 0;
  // When there will be something, unless something comes; INT64_MAX: nothing.
  virtual std::int64_t next_due_ns() const noexcept = 0;
  // All of it; waits up to `wait_ms` until something comes.
  void wait(Replies& replies, int wait_ms);

  // Requests that were added and are not done. What is sent again was done before: who ends when
  // there are none loses it. See is_idle().
  virtual std::size_t outstanding() const noexcept = 0;
  // All sessions are open, and nothing is asked of a server: nothing that was acknowledged is to be
  // sent again. As far as receive() has heard: look, receive, then ask.
  virtual bool is_idle() const noexcept = 0;
  // Changes that were acknowledged, and that servers may lack, as they would be sent again and were
  // not: they are lost when the client ends now.
  virtual std::uint64_t unreplayed() const noexcept = 0;

  // Sessions that were lost for good, and why the first one was.
  virtual std::size_t lost_sessions() const noexcept = 0;
  virtual const std::string& lost_why() const noexcept = 0;
};

}  // namespace turntable::shadowfax
