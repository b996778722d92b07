// How one client's requests and answers look: what is drawn for a request (netclone/choices.h), its
// packets, and the id by which the answer is recognised.
//
// Answers are told apart by the id in the trailer, never by the switch's sequence number, which
// begins anew when the switch is started again.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "load/open_loop.h"
#include "net/datagrams.h"
#include "netclone/client/credit_delays.h"
#include "netclone/client/traffic.h"
#include "netclone/packet.h"

namespace turntable::netclone {

// Numbers of probes begin here, so that none is a request's.
inline constexpr std::uint64_t kFirstProbe = std::uint64_t{1} << 47U;

class Codec {
 public:
  static constexpr std::size_t kMaxDatagrams = 2;

  struct Counts {
    std::int64_t malformed = 0;  // not a packet of NetClone's, or none that answers
    std::int64_t not_mine = 0;   // an answer to another client, or of somebody who was not asked
    // To a request of an iteration before: its numbers were the same, its servers perhaps others.
    std::int64_t late = 0;
    // First answers in the window.
    std::int64_t cloned = 0;       // of requests that had two copies
    std::int64_t clone_first = 0;  // of these, the second copy's was first
  };

  // `traffic` must outlive this object. Nothing of this iteration is sent before `since_ns`.
  Codec(const Traffic& traffic, std::uint16_t client, std::int64_t since_ns,
        std::int64_t monotonic_to_realtime_ns, CreditDelays credit_delays = {})
      : traffic_(&traffic),
        client_(client),
        since_ns_(static_cast<std::uint64_t>(since_ns + monotonic_to_realtime_ns)),
        to_realtime_ns_(monotonic_to_realtime_ns),
        credit_delays_(std::move(credit_delays)) {}

  unsigned send(std::uint64_t number, std::int64_t now_ns, net::Datagrams& out) noexcept;
  std::optional<std::uint64_t> decode(const net::Datagrams::Received& datagram) noexcept;
  void counted(const load::OpenLoop::Counted& answer) noexcept;

  const Counts& counts() const noexcept { return counts_; }
  // Of laedge: by first answers in the window.
  const CreditDelays& credit_delays() const noexcept { return credit_delays_; }

 private:
  void draw(Packet& packet) const noexcept;

  const Traffic* traffic_;
  std::uint16_t client_;
  std::uint64_t since_ns_;  // of the realtime clock, as packets have it
  std::int64_t to_realtime_ns_;
  Packet answer_;  // decoded last
  Counts counts_;
  CreditDelays credit_delays_;
};

}  // namespace turntable::netclone
