#include "homa/traffic.h"

#include <cmath>

namespace turntable::homa {

Traffic::Traffic(const MessageSizes& sizes, Process process, double calls_per_s,
                 std::uint32_t servers, std::uint64_t seed, std::uint32_t client,
                 std::uint32_t fan_out)
    : sizes_(sizes),
      process_(process),
      gap_ps_(1e12 * fan_out / calls_per_s),
      servers_(servers),
      random_(workload::stream_seed(seed, 0, client)),
      fan_out_(fan_out) {
  // Clients of periodic arrivals are not in step.
  if (process_ == Process::kPeriodic) at_ps_ = -gap_ps_ * uniform();
}

Arrival Traffic::next() {
  if (left_ == 0) {
    at_ps_ += process_ == Process::kPeriodic ? gap_ps_ : -std::log1p(-uniform()) * gap_ps_;
    server_ = static_cast<std::uint32_t>(uniform() * servers_);
    left_ = fan_out_;
  } else {
    server_ = (server_ + 1) % servers_;
  }
  --left_;
  const double share = uniform();
  return {std::llround(at_ps_), server_, sizes_.at(share), static_cast<std::uint32_t>(share * 100)};
}

}  // namespace turntable::homa
