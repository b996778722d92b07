// A node's side of the transport: all of its calls and all that it serves. Pure: it has no sockets
// and no clock. Whoever drives it hands in packets and ticks of the timer, and takes the packets to
// be sent, each when the link has room for it: what is best to be sent is decided then.
//
//     call(), reply() ──▶ ┌──────────┐ ──▶ next()          one packet, most urgent first
//     receive(), tick() ─▶│ Endpoint │ ──▶ Application     requests, responses, aborted calls
//                         └──────────┘
//
// Protocol: reference of the transport measured in Homa (SIGCOMM '18), docs/homa.md §2 to §5.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "homa/grant_scheduler.h"
#include "homa/packet.h"
#include "homa/rpc.h"
#include "homa/settings.h"
#include "homa/shortest_first.h"

namespace turntable::homa {

enum class AbortReason : std::uint8_t {
  kServerIsSilent,  // for abort_after_ticks
  kByServer,
};

// What an endpoint tells. It may be asked for calls and replies from within.
class Application {
 public:
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  virtual ~Application() = default;

  virtual void request(RpcId id, Peer client, Content content) = 0;
  // Each call has one of both.
  virtual void response(std::uint64_t tag, Content content) = 0;
  virtual void aborted(std::uint64_t tag, AbortReason reason) = 0;
};

struct Statistics {
  std::uint64_t calls = 0;
  std::uint64_t responses = 0;
  std::uint64_t aborted = 0;
  std::uint64_t executed = 0;          // requests that the application was given
  std::uint64_t requests_dropped = 0;  // their clients fell silent or gave up
  std::uint64_t data_packets_sent = 0;
  std::uint64_t control_packets_sent = 0;
  std::uint64_t packets_sent_again = 0;
  std::uint64_t duplicate_packets = 0;  // of data that had come before
  std::uint64_t resends_asked = 0;
  std::uint64_t busy_answers = 0;
  std::uint64_t restarts = 0;
  std::uint64_t unknown = 0;        // packets of calls that are over
  std::uint64_t strangers = 0;      // packets that are not of the call's peer
  std::uint64_t malformed = 0;      // of a message, but no packet of it
  std::uint64_t refused_again = 0;  // at-most-once: requests that had been executed

  Statistics& operator+=(const Statistics& other) noexcept;
};

class Endpoint {
 public:
  // No two nodes have the same `client`. Both references must outlive it. Throws as check() does.
  Endpoint(const Settings& settings, std::uint64_t client, Application& application);

  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Throws bad_argument for a message that is empty or larger than max_message_bytes.
  void call(Peer server, Content request, std::uint64_t tag);

  // Of a request that the application was given. False: its client gave up.
  bool reply(RpcId id, Content response);

  void receive(Peer from, const Packet& packet);

  void tick();

  struct Outgoing {
    Peer to = 0;
    Packet packet;
  };
  // The packet to be sent next; its payload is valid until anything else is asked of the endpoint.
  // False: there is none.
  bool next(Outgoing& outgoing);

  std::size_t outstanding_calls() const noexcept { return calls_.size(); }
  std::size_t serving() const noexcept { return serving_.size(); }
  const Statistics& statistics() const noexcept { return statistics_; }

 private:
  // Goes out before any message in SRPT order, in the order of asking.
  struct Due {
    enum class Kind : std::uint8_t { kControl, kGrant, kFirst, kAgain };
    Kind kind = Kind::kControl;
    bool of_call = false;      // whose record it is about
    Peer to = 0;               // kControl
    Packet packet{};           // kControl
    RpcId id{};                // others
    std::uint32_t offset = 0;  // kAgain: a part of a message
  };

  // endpoint.cc: what goes out
  void check_size(std::uint32_t bytes) const;
  void begin_sending(Rpc& rpc, Content content);
  void resume_sending(Rpc& rpc);
  bool take_due(Outgoing& outgoing);
  bool take_data(Rpc& rpc, std::uint32_t offset, bool again, Outgoing& outgoing);
  void sent_all(Rpc& rpc);
  void send_control(const Rpc& rpc, Packet packet);
  void send_control(Peer to, RpcId id, bool from_client, Packet packet);
  void send_grant(Receiving& receiving);
  void send_again(Rpc& rpc, std::uint32_t begin, std::uint32_t end);
  Rpc* find(RpcId id, bool is_call);

  // endpoint_receive.cc: what comes in
  void receive_at_client(Peer from, const Packet& packet);
  void receive_at_server(Peer from, const Packet& packet);
  void receive_unknown_at_client(Peer from, const Packet& packet);
  void receive_unknown_at_server(Peer from, const Packet& packet);
  bool is_possible(const Packet& packet) const noexcept;
  void receive_data(Rpc& rpc, const Packet& packet);
  void granted(Rpc& rpc, std::uint32_t offset, std::uint8_t priority);
  void receive_resend(Rpc& rpc, const Packet& packet);
  void schedule_grants(Receiving& receiving);
  void grant_one();
  void completed(Rpc& rpc);
  void restart(Rpc& rpc);
  void acknowledge(Peer server, RpcId id);
  void acknowledged(const Packet& packet);
  bool is_finished(RpcId id) const;

  // endpoint_timer.cc: what does not come
  void tick_call(Rpc& rpc, std::vector<Rpc*>& silent);
  void tick_serving(Rpc& rpc, std::vector<Rpc*>& silent);
  void ask_for(Rpc& rpc, std::uint32_t offset, std::uint32_t length, std::uint8_t priority);
  void ask_for_gap(Rpc& rpc);
  void abort(Rpc& rpc, AbortReason reason);
  void forget_call(Rpc& rpc);
  void forget_serving(Rpc& rpc);

  const Settings settings_;
  const std::uint64_t client_;
  Application& application_;

  std::map<std::uint64_t, Rpc> calls_;  // by sequence: the first is the oldest
  std::unordered_map<RpcId, Rpc, RpcIdHash> serving_;
  std::uint64_t next_sequence_ = 1;
  std::uint64_t next_number_ = 0;
  std::uint64_t tick_ = 0;
  bool data_since_tick_ = false;

  std::deque<Due> due_;
  ShortestFirst<Rpc> sending_;
  GrantScheduler grants_;
  Content last_sent_;  // of a response whose record is gone: next() has told of its bytes

  // At-most-once: what each client's node has acknowledged.
  struct Finished {
    std::uint64_t below = 0;            // all of these
    std::set<std::uint64_t> sequences;  // and these
  };
  std::unordered_map<std::uint64_t, Finished> finished_;

  Statistics statistics_;
};

}  // namespace turntable::homa
