// What `prepare` tells a kvclient whose loop is open: argument "open_loop".
#pragma once

#include <cstdint>
#include <optional>

#include "farreach/kv/arguments.h"
#include "farreach/kv/open_client.h"
#include "workload/profile.h"

namespace turntable::kv {

struct OpenPlan {
  double rate_per_s = 0;  // of the machine
  load::Process process = load::Process::kExponential;
  std::uint64_t seed = 0;
  std::size_t outstanding_max = 0;
  std::int64_t give_up_ns = 0;
  std::uint64_t probes = 0;  // by the machine's first thread
  std::int64_t probe_offset_ns = 0;
  std::int64_t probe_period_ns = 0;
  std::int64_t load_offset_ns = 0;

  // Nothing where "open_loop" is not given: the loops are closed.
  static std::optional<OpenPlan> parse(const Arguments& arguments,
                                       const workload::Workload& workload);

  // Of a thread that has `order.clients` of the machine's `clients`.
  OpenClient::Settings of_thread(const OpenOrder::Settings& order, unsigned clients,
                                 std::uint32_t value_bytes, std::size_t copies_max) const;
};

}  // namespace turntable::kv
