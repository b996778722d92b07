// How hot keys change, as kvclient's commands say it (docs/architecture.md §5).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "farreach/kv/arguments.h"
#include "farreach/kv/replay.h"

namespace turntable::kv {

// "popularity" of `prepare`: {"pattern", "hot_list": N, "changes": [{"keys", ["positions"]}]} ->
// the hot keys of every period. Without it, none.
std::vector<std::vector<workload::KeyId>> hot_lists_of(const Arguments& arguments,
                                                       const workload::Workload& workload);

// The periods that clients were told to begin, since `prepare`.
class PopularityChanges {
 public:
  using Json = nlohmann::json;

  void clear() { begun_ = Json::array(); }
  // The command `popularity`: {"period": T} -> the same, and when it began. `replay` may be null.
  Json begin(const Json& args, Replay* replay);
  // [{"period", "at_ns"}]: CLOCK_REALTIME
  const Json& begun() const { return begun_; }

 private:
  Json begun_ = Json::array();
};

}  // namespace turntable::kv
