// One side's record of a call.
#pragma once

#include <cstdint>

#include "homa/grant_scheduler.h"
#include "homa/outgoing_message.h"
#include "homa/packet.h"
#include "homa/shortest_first.h"

namespace turntable::homa {

// docs/homa.md §4 draws them.
enum class RpcState : std::uint8_t {
  kCalling,      // client: the request goes out, then the response comes in
  kReceiving,    // server: the request comes in
  kExecuting,    // server: the application has it
  kResponding,   // server: the response goes out
  kAwaitingAck,  // server, at-most-once: the response is out, its client may not have it
};

struct Rpc {
  RpcId id;
  Peer peer = 0;
  RpcState state = RpcState::kCalling;
  std::uint64_t number = 0;  // ascending in the order in which this side's messages began
  std::uint64_t tag = 0;     // client: the application's name for it
  std::uint32_t silent_ticks = 0;

  OutgoingMessage out;                // client: request; server: response
  Receiving in;                       // client: response; server: request
  ShortestFirst<Rpc>::Place sending;  // taken while `out` may be sent, in SRPT order

  bool is_call() const noexcept { return state == RpcState::kCalling; }
};

}  // namespace turntable::homa
