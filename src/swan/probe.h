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
  double seconds = 0.15;      // of each measurement
};

// {"rows": [{"what": "chase", "size_kib", "cpu", "beside": null | {"what", "cpu"}, "ns_per_step"},
// {"what": "stream", …, "gb_per_s"}, {"what": "integer", …, "per_us"}]}: of chases one each within
// L1, within L2, beyond it, of a quarter of the largest size and of the largest; each alone and
// beside. A GB of a stream is 10^9 bytes read and as many written.
nlohmann::json probe(const Topology& topology, const ProbeRequest& request);

}  // namespace turntable::swan
