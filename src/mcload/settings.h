// What a generator of one process does in an iteration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "load/thread_frame.h"
#include "mcload/content.h"
#include "mcload/protocol.h"
#include "mcload/server_address.h"

namespace turntable::mcload {

// What may be asked for, on the command line and of the node.
inline constexpr std::int64_t kMaxThreads = 256;
inline constexpr std::int64_t kMaxConnections = 60'000;
inline constexpr std::int64_t kMaxDepth = 10'000;
inline constexpr double kLeastRate = 1e-3, kMaxRate = 1e8;
inline constexpr std::int64_t kMaxSpinUs = 1'000'000;
// Requests under way of one process; they take 3.5 GB.
inline constexpr std::uint64_t kMaxUnderWay = 10'000'000;

struct GeneratorSettings {
  std::vector<ServerAddress> servers;  // connections are dealt to them in turn
  Protocol protocol = Protocol::kAscii;
  std::shared_ptr<const Content> content;
  std::uint32_t threads = 1;
  std::uint32_t connections = 1;  // per thread and server
  std::uint32_t depth = 1;        // requests under way per connection
  std::string arrivals = "exponential";
  double update = 0;            // share of SETs
  double rate_per_s = 0;        // of this generator
  bool is_closed_loop = false;  // as fast as it goes, without a rate
  bool no_delay = true;
  std::uint64_t seed = 1;
  std::uint32_t client = 0;   // of all generators: its draws are its own
  std::vector<int> cpus;      // empty: not pinned
  bool one_cpu_each = false;  // thread i on cpus[i], else all threads on all of them
  std::int64_t connect_timeout_ns = 5'000'000'000;
  load::ThreadFrame::Settings frame;
};

}  // namespace turntable::mcload
