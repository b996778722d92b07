#include "homa/traffic.h"

#include <cmath>

namespace turntable::homa {

Traffic::Traffic(const MessageSizes& sizes, Process process, double calls_per_s,
                 std::uint32_t servers, std::uint64_t seed, std::uint32_t client)
    : sizes_(sizes),
      process_(process),
      gap_ps_(1e12 / calls_per_s),
      servers_(servers),
      random_(workload::stream_seed(seed, 0, client)) {
  // Clients of periodic arrivals are not in step.
  if (process_ == Process::kPeriodic) at_ps_ = -gap_ps_ * uniform();
}

Arrival Traffic::next() {
  at_ps_ += process_ == Process::kPeriodic ? gap_ps_ : -std::log1p(-uniform()) * gap_ps_;
  const auto server = static_cast<std::uint32_t>(uniform() * servers_);
  const double share = uniform();
  return {std::llround(at_ps_), server, sizes_.at(share), static_cast<std::uint32_t>(share * 100)};
}

}  // namespace turntable::homa
