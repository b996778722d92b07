// What several nodes of this system are told, beside the arguments that every node may have.
#pragma once

#include <netinet/in.h>

#include <optional>
#include <vector>

#include "node/arguments.h"
#include "workload/profile.h"

namespace turntable::kv {

class Arguments : public node::Arguments {
 public:
  using node::Arguments::Arguments;

  // "controller": {"address", "port"} of the cache-controller; nothing if it is not given. A node
  // that was started without the run's secret has no way to it.
  std::optional<sockaddr_in> controller_or_none(bool has_secret) const;

  // "scale": the number of logical servers, a divisor of 32,768.
  unsigned scale() const;
  // "partitions": distinct numbers below `scale`, at least one.
  std::vector<unsigned> partitions(unsigned scale) const;
  // "workload", with a profile that can run.
  workload::Workload workload() const;
};

}  // namespace turntable::kv
