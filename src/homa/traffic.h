// What clients ask for: arrivals of calls and their sizes, as functions of (seed, client, number),
// so that every transport is offered the same.
#pragma once

#include <cstdint>

#include "homa/message_sizes.h"
#include "workload/random.h"

namespace turntable::homa {

enum class Process : std::uint8_t {
  kExponential,
  kPeriodic,  // as the published load generator's, whose gaps hardly vary
};

struct Arrival {
  std::int64_t at_ps;
  std::uint32_t server;  // number of it
  std::uint32_t bytes;
  std::uint32_t percentile;  // 0 to 99: of messages, smallest first, the hundredth it is in
};

class Traffic {
 public:
  // `sizes` must outlive it. `fan_out` calls arrive at the same instant, each for the next server
  // after the one before.
  Traffic(const MessageSizes& sizes, Process process, double calls_per_s, std::uint32_t servers,
          std::uint64_t seed, std::uint32_t client, std::uint32_t fan_out = 1);

  // One after the other, for ever.
  Arrival next();

 private:
  double uniform() noexcept { return workload::unit_interval(random_.next()); }

  const MessageSizes& sizes_;
  const Process process_;
  const double gap_ps_;
  const std::uint32_t servers_;
  workload::Random random_;
  const std::uint32_t fan_out_;
  double at_ps_ = 0;
  std::uint32_t server_ = 0;
  std::uint32_t left_ = 0;  // of those that arrive together
};

}  // namespace turntable::homa
