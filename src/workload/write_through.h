// What becomes of a write-through cache (NetCache) whose written slots wait for their servers
// (docs/kvcache.md §6), by replaying the traces against a model of servers and switch:
//
//   a server   serves in order of arrival, each request for one unit of time (1/c)
//   a write    of a cached key makes its slot invalid when it passes the switch; u after it has
//   been
//              served, the slot is valid again, unless another write of the key passed meanwhile
//              until then, a next write of the key waits at the server, and all behind it
//   a read     of a cached key is answered by the switch while the slot is valid
//   a client   sends its next request when it has the answer to the one before
//
// The network takes no time. Unlike normalized throughput without a cache this depends on how
// requests follow each other, which is why a model replays what the shares of keys would suffice
// for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workload/key.h"
#include "workload/trace.h"

namespace turntable::workload {

// Operations per unit of time (1/c) of one placement of the rotation, by who answered.
struct PlacementRates {
  double bottleneck_switch = 0;
  double bottleneck_server = 0;
  double rotated_switch = 0;  // 0 in placement 0, where the bottleneck is alone
  double rotated_server = 0;
  // Standard deviations between pieces of the traces; 0 if there is only one.
  double hit_share_deviation = 0;      // of what the switch answers, as a share of all
  double rotated_share_deviation = 0;  // of what the rotated partition's server answers of both's
};

class WriteThroughModel {
 public:
  // In units of 1/c.
  struct Window {
    double warmup = 0;
    double length = 0;
    // Client i of n begins at i / n of this; 0: all at once.
    double ramp = 0;
    // 1: every placement begins at the beginning of the traces. Else placement i of n begins at
    // i / n of what a client replays, and is replayed from so many other places too; from every
    // second of them the clients begin otherwise: all at once or, where they do so anyway, over
    // half of the warm-up. Where two servers are nearly equally busy, their queues wander, and the
    // hits with them, and what the beginning fills may stay full: how far that goes says the
    // deviation.
    std::uint64_t pieces = 1;
  };

  explicit WriteThroughModel(std::vector<KeyId> cached);
  // So many clients share one trace: who is free sends its next request.
  WriteThroughModel(std::vector<KeyId> cached, unsigned sharing);

  // A visitor of compose_traces; of clients that share one, only once.
  void add(unsigned client, const std::vector<Operation>& trace);

  // By update round trip u, then by placement as the rotation has them: the bottleneck alone, then
  // with every other partition, ascending. Throws std::invalid_argument if there is no such
  // bottleneck.
  std::vector<std::vector<PlacementRates>> rotate(unsigned scale, unsigned bottleneck,
                                                  std::span<const double> update_round_trips,
                                                  const Window& window) const;

 private:
  struct Request {
    std::uint32_t key;   // index of a cached key, or kUncached
    std::uint16_t slot;  // in a placement: 0 of the bottleneck, 1 of the rotated partition
    bool write;
  };
  static constexpr std::uint32_t kUncached = UINT32_MAX;

  // What a client replays in a placement: at least one request.
  struct Client {
    std::size_t number;  // in the whole run
    std::vector<Request> requests;
  };

  std::vector<Client> clients_of(unsigned scale, unsigned bottleneck, unsigned rotated) const;
  void deviate(PlacementRates& rates, const std::vector<Client>& clients, double update_round_trip,
               const Window& window) const;
  PlacementRates replay(const std::vector<Client>& clients, double begin, double update_round_trip,
                        const Window& window) const;

  std::vector<KeyId> cached_;  // sorted
  unsigned sharing_ = 0;       // clients; 0: each has its own trace
  std::vector<std::vector<Request>> traces_;
};

}  // namespace turntable::workload
