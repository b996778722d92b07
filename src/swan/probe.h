// What a machine can show of interference between processors: a few quick measurements.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "placement/topology.h"

namespace turntable::swan {

struct ProbeRequest {
  int cpu = 0;
  std::optional<int> beside;  // where something else runs meanwhile
  std::size_t size_mb = 64;   // of the largest chase
  double seconds = 0.15;      // of each measurement, of which there are three
};

// {"rows": [..]}, each {"what", "cpu", "beside": null | {"what", "cpu"}, "shared"} and its value:
// "chase" with "size_kib" and "ns_per_step", "stream" with "gb_per_s", "integer" with "per_us".
// Chases are within L1, within L2, beyond it, of a quarter of the largest size and of the largest;
// all alone and beside. "shared": it needs what other processors, or other guests of the host,
// have a part of. The best of three passes, with buffers of their own. By processor time. A GB of
// a stream is 10^9 bytes read and as many written.
nlohmann::json probe(const Topology& topology, const ProbeRequest& request);

}  // namespace turntable::swan
