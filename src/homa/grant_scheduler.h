// Whom a receiver lets send: at most `degree` messages, each of another sender (of a sender's
// messages the one of which least is missing), shortest remainder first.
#pragma once

#include <cstdint>
#include <vector>

#include "homa/incoming_message.h"
#include "homa/packet.h"
#include "homa/settings.h"
#include "homa/shortest_first.h"

namespace turntable::homa {

using Peer = std::uint32_t;  // a node; what numbers mean is for whoever drives the endpoint

// A message that comes in, and what its sender is to be told.
struct Receiving {
  IncomingMessage message;
  RpcId id;
  bool is_response = false;
  Peer sender = 0;
  std::uint64_t number = 0;  // ascending in the order in which messages began
  bool grant_is_due = false;
  std::uint8_t granted_priority = 0;
  ShortestFirst<Receiving>::Place place;  // taken while it waits for grants
};

class GrantScheduler {
 public:
  // `settings` must outlive it.
  explicit GrantScheduler(const Settings& settings) : settings_(settings) {}

  // A packet of `receiving` came. It must stay where it is until forget(), or until it is fully
  // granted.
  void received(Receiving& receiving);

  // It will not be granted any more.
  void forget(Receiving& receiving) noexcept { waiting_.erase(receiving.place); }

  // One packet more for the first active message that is less than RTTbytes ahead of what came of
  // it. Null: there is none.
  Receiving* grant();

 private:
  std::uint8_t scheduled_priority(std::size_t rank, std::size_t active) const noexcept;
  std::uint8_t priority(const IncomingMessage& message, std::size_t rank,
                        std::size_t active) const noexcept;
  void collect_active();

  const Settings& settings_;
  ShortestFirst<Receiving> waiting_;
  std::vector<Receiving*> active_;  // as collect_active() found them
};

// Basic's rule, for which no other message matters. False: nothing is to be granted now.
bool grant_independently(const Settings& settings, Receiving& receiving) noexcept;

}  // namespace turntable::homa
