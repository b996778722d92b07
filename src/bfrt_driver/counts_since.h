// Counts beside entries, since they were cleared.
//
// A switch can only write them entry by entry, loses what it counts between reading and writing,
// and may refuse that for tables with const entries or a const default action. So what they were
// when they were cleared is remembered here and taken off what is read. A driver that is started
// again remembers nothing: counts are then those since the entries were written.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "bfrt/bfruntime.pb.h"

namespace turntable::bfrt_driver {

// Thread-safe. `epoch` is the connection's: another one, and nothing is remembered, as the switch
// may have been started again.
class CountsSince {
 public:
  // `counts`, by name, are what the entry has now.
  void clear(std::uint64_t epoch, const bfrt_proto::TableEntry& entry,
             const nlohmann::json& counts);
  nlohmann::json since(std::uint64_t epoch, const bfrt_proto::TableEntry& entry,
                       nlohmann::json counts) const;

  // These updates were applied: entries that were deleted or inserted count from zero.
  void applied(const bfrt_proto::WriteRequest& request);

 private:
  using Place = std::pair<std::uint32_t, std::string>;  // table, key

  mutable std::mutex mutex_;
  std::uint64_t epoch_ = 0;
  std::map<Place, nlohmann::json> before_;
};

}  // namespace turntable::bfrt_driver
