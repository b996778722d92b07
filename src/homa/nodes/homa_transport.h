// Homa and Basic on a socket: the state machines of homa/endpoint.h, the timer's ticks, and the
// node's uplink, which has a rate of its own and takes the most urgent packet whenever it has room.
// A packet is on its way with its last bit, as from an interface that serializes.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/link_clock.h"
#include "common/ring.h"
#include "homa/endpoint.h"
#include "homa/nodes/peers.h"
#include "homa/nodes/transport.h"
#include "homa/nodes/transport_settings.h"
#include "net/datagrams.h"

namespace turntable::homa {

// Of a datagram, beside Homa's header: UDP 8, IP 20, Ethernet 14. The rest is the link's overhead.
inline constexpr std::uint32_t kHeadersBelow = 42;

struct HomaCounts {
  std::uint64_t datagrams_sent = 0;
  std::uint64_t wire_bytes_sent = 0;  // with the uplink's overhead
  std::uint64_t refused = 0;          // by the system
  std::uint64_t received = 0;
  std::uint64_t malformed = 0;  // no packet of Homa
  std::uint64_t strangers = 0;  // from an address that nobody named
  std::uint64_t receive_errors = 0;
};

class HomaTransport final : public Transport {
 public:
  // Both must outlive it. `client`: of the endpoint; no two nodes have the same. Throws
  // CommandError, also where the interface's MTU is too small for a full packet.
  HomaTransport(const HomaSettings& settings, std::uint64_t client, const Peers& peers,
                Application& application, std::unique_ptr<net::Datagrams> datagrams);

  void call(Peer server, Content request, std::uint64_t tag) override {
    endpoint_.call(server, std::move(request), tag);
  }
  std::size_t outstanding_calls() const noexcept override { return endpoint_.outstanding_calls(); }
  void reply(RpcId id, Content response) override { endpoint_.reply(id, std::move(response)); }

  int fd() const noexcept override { return datagrams_->fd(); }
  int receive() noexcept override;
  std::optional<std::int64_t> first_came_ns() const noexcept override;
  // now_ns() is when the packet came of which the application is told.
  void handle_batch(std::int64_t now_ns) noexcept override;
  std::int64_t now_ns() const noexcept override { return now_ns_; }

  // Ticks that are due, and packets that the uplink has room for.
  void act(std::int64_t now_ns, std::int64_t ready_ns) noexcept override;
  std::int64_t next_due_ns() const noexcept override;

  bool knows_arrivals() const noexcept override { return true; }
  std::uint32_t socket_drops() const override { return datagrams_->drops(); }
  std::optional<std::size_t> receive_buffer_bytes() const override {
    return datagrams_->buffer_bytes();
  }
  nlohmann::json statistics() const override;

 private:
  void use_uplink(std::int64_t now_ns, std::int64_t ready_ns) noexcept;
  void hand_over(const Endpoint::Outgoing& outgoing, std::int64_t ready_ns) noexcept;
  void depart(std::int64_t now_ns) noexcept;  // what has left the uplink by now

  const HomaSettings settings_;
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
  HomaCounts counts_;
};

}  // namespace turntable::homa
