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

#include <cstdint>
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
};

class WriteThroughModel {
 public:
  // In units of 1/c.
  struct Window {
    double warmup = 0;
    double length = 0;
  };

  explicit WriteThroughModel(std::vector<KeyId> cached);

  // A visitor of compose_traces.
  void add(unsigned client, const std::vector<Operation>& trace);

  // The placements as the rotation has them: the bottleneck alone, then with every other partition,
  // ascending. `update_round_trip` is u.
  std::vector<PlacementRates> rotate(unsigned scale, unsigned bottleneck, double update_round_trip,
                                     const Window& window) const;

 private:
  struct Request {
    std::uint32_t key;  // index of a cached key, or kUncached
    std::uint16_t slot;
    bool write;
  };
  static constexpr std::uint32_t kUncached = UINT32_MAX;

  PlacementRates place(unsigned scale, unsigned bottleneck, unsigned rotated,
                       double update_round_trip, const Window& window) const;

  std::vector<KeyId> cached_;  // sorted
  std::vector<std::vector<Request>> traces_;
};

}  // namespace turntable::workload
