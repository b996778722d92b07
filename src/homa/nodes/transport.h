// A node's transport on a socket: the state machines of homa/endpoint.h, the timer's ticks, and the
// node's uplink, which has a rate of its own and takes the most urgent packet whenever it has room.
// A packet is on its way with its last bit, as from an interface that serializes.
//
// One thread drives it. All instants are CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/link_clock.h"
#include "common/ring.h"
#include "homa/endpoint.h"
#include "homa/nodes/peers.h"
#include "net/datagrams.h"

namespace turntable::homa {

// Of a datagram, beside Homa's header: UDP 8, IP 20, Ethernet 14. The rest is the link's overhead.
inline constexpr std::uint32_t kHeadersBelow = 42;

struct TransportSettings {
  Settings protocol;
  Link uplink;                // no rate: packets leave when they can
  std::int64_t ahead_ns = 0;  // of the uplink, handed over before it is free
  std::int64_t tick_ns = 2'000'000;

  // Throws bad_argument. `where` begins messages.
  static TransportSettings parse(const std::string& where, const nlohmann::json& args);
};

struct TransportCounts {
  std::uint64_t datagrams_sent = 0;
  std::uint64_t wire_bytes_sent = 0;  // with the uplink's overhead
  std::uint64_t refused = 0;          // by the system
  std::uint64_t received = 0;
  std::uint64_t malformed = 0;  // no packet of Homa
  std::uint64_t strangers = 0;  // from an address that nobody named
  std::uint64_t receive_errors = 0;
};

class Transport {
 public:
  // Both must outlive it. `client`: of the endpoint; no two nodes have the same. Throws
  // CommandError, also where the interface's MTU is too small for a full packet.
  Transport(const TransportSettings& settings, std::uint64_t client, const Peers& peers,
            Application& application, std::unique_ptr<net::Datagrams> datagrams);

  Endpoint& endpoint() noexcept { return endpoint_; }
  const Endpoint& endpoint() const noexcept { return endpoint_; }
  const net::Datagrams& datagrams() const noexcept { return *datagrams_; }
  const TransportCounts& counts() const noexcept { return counts_; }

  // Reads a batch without waiting: its size, 0, or -errno.
  int receive() noexcept;
  // When the first of the batch came; 0: not known.
  std::int64_t first_came_ns() const noexcept;
  // Hands the batch to the endpoint; now_ns() of what the application is told meanwhile is when its
  // packet came.
  void handle_batch(std::int64_t now_ns) noexcept;
  std::int64_t now_ns() const noexcept { return now_ns_; }

  // Ticks that are due, and packets that the uplink has room for. What waits was there at
  // `ready_ns`: an uplink that is looked at late sends as one that is not.
  void act(std::int64_t now_ns, std::int64_t ready_ns) noexcept;
  // act() has something to do then; packets that come are another matter.
  std::int64_t next_due_ns() const noexcept;

 private:
  void use_uplink(std::int64_t now_ns, std::int64_t ready_ns) noexcept;
  void hand_over(const Endpoint::Outgoing& outgoing, std::int64_t ready_ns) noexcept;
  void depart(std::int64_t now_ns) noexcept;  // what has left the uplink by now

  const TransportSettings settings_;
  const Peers& peers_;
  const std::unique_ptr<net::Datagrams> datagrams_;
  Endpoint endpoint_;
  LinkClock uplink_;
  Ring<std::uint64_t> departures_ns_;  // of what waits in datagrams_, in this order
  bool is_blocked_ = false;            // the uplink has no room, and something may wait for it
  std::int64_t next_tick_ns_ = 0;
  std::int64_t now_ns_ = 0;
  std::int64_t ready_ns_ = INT64_MAX;  // first packet handled since the uplink was used
  int count_ = 0;                      // of the batch
  TransportCounts counts_;
};

}  // namespace turntable::homa
